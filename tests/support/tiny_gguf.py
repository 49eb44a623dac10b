"""A language model of 290 KB with random weights, made on the spot: all of the real library works on it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CHATML", "write_tiny_model"]

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_WIDTH, _CONTEXT = 64, 4096
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6


def write_tiny_model(path: Path, *, template: str = CHATML) -> Path:
    """Write a Llama of one layer whose tokens are the bytes, yes, no and four control tokens."""
    import gguf
    import numpy as np

    tokens = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", *(f"<0x{n:02X}>" for n in range(256)), "yes", "no"]
    kinds = [_UNKNOWN, _CONTROL, _CONTROL, _CONTROL, _CONTROL, *[_BYTE] * 256, _NORMAL, _NORMAL]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_WIDTH)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // 4)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(4)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)
    if template:
        writer.add_chat_template(template)
    random = np.random.default_rng(7)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.normal(0, 0.2, shape).astype(np.float32))

    add("token_embd.weight", len(tokens), _WIDTH)
    add("output.weight", len(tokens), _WIDTH)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(_WIDTH, dtype=np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        add(f"blk.0.{name}.weight", _WIDTH, _WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
