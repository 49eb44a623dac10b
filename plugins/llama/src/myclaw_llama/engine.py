"""A model and what it is asked, inside the process that holds it: all use of the native library is here."""

from __future__ import annotations

import codecs
import ctypes
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from myclaw_llama.template import Template, TemplateError

__all__ = ["Engine", "EngineError"]

_PIECE_BYTES = 1024
_YES = ("yes", "Yes", "YES", " yes", " Yes", " YES")
_NO = ("no", "No", "NO", " no", " No", " NO")


class EngineError(Exception):
    """Raised when a call cannot be answered; the model stays loaded.

    Attributes:
        kind: `too_long`, `template`, `schema` or `vocabulary`.
    """

    def __init__(self, kind: str, detail: str) -> None:
        self.kind = kind
        super().__init__(detail)


class Engine:
    """One loaded model. What a prompt has in common with the one before is not computed again.

    Args:
        path: The GGUF file.
        context_tokens: Most tokens of a prompt and its answer.
        threads: How many compute.
    """

    def __init__(self, path: str, *, context_tokens: int, threads: int) -> None:
        import llama_cpp

        self._lib: Any = llama_cpp
        self._llama = llama_cpp.Llama(
            path, n_ctx=context_tokens, n_threads=threads, n_threads_batch=threads, verbose=False, no_perf=True
        )
        self._vocab = self._lib.llama_model_get_vocab(self._llama.model)
        self._bos = self._name_of(self._llama.token_bos())
        self._template = Template(self._llama.metadata, bos=self._bos, eos=self._name_of(self._llama.token_eos()))
        self._yes, self._no = self._first_tokens(_YES), self._first_tokens(_NO)

    def complete(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,
        schema: Mapping[str, Any] | None,
        on_text: Callable[[str], None],
    ) -> dict[str, Any]:
        """Answer messages with the likeliest tokens.

        Args:
            messages: Each with `role` and `content`.
            schema: JSON schema that the answer is held to.
            on_text: Is given the answer as it comes.

        Raises:
            EngineError: It cannot be answered.
        """
        tokens = self._prompt(messages)
        grammar = None if schema is None else self._grammar(schema)
        cached = self._known(tokens)
        room = min(max_tokens, self._llama.n_ctx() - len(tokens))
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        count, stop = 0, "max_tokens" if room == max_tokens else "model_context_window_exceeded"
        for token in self._llama.generate(tokens, temp=0.0, grammar=grammar):
            if self._lib.llama_vocab_is_eog(self._vocab, token):
                stop = "end_turn"
                break
            count += 1
            if text := decoder.decode(self._piece(token)):
                on_text(text)
            if count >= room:
                break
        if text := decoder.decode(b"", final=True):
            on_text(text)
        return {"stop": stop, "input": len(tokens) - cached, "cached": cached, "output": count}

    def score(self, rubric: str, item: str) -> dict[str, Any]:
        """Return how much likelier `yes` is than `no` as the beginning of the answer: one pass, no text.

        `log_odds` is log P(yes) − log P(no), each over its usual spellings.

        Raises:
            EngineError: It cannot be answered.
        """
        if not (self._yes and self._no):
            raise EngineError("vocabulary", "yes and no begin alike")
        tokens = self._prompt([{"role": "system", "content": rubric}, {"role": "user", "content": item}])
        cached = self._keep(self._known(tokens))
        self._llama.eval(tokens[cached:])
        logits = self._lib.llama_get_logits_ith(self._llama.ctx, -1)
        log_odds = _log_sum(logits[token] for token in self._yes) - _log_sum(logits[token] for token in self._no)
        return {"log_odds": log_odds, "input": len(tokens) - cached, "cached": cached, "output": 0}

    def _prompt(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        try:
            pieces = self._template.pieces(messages)
        except TemplateError as error:
            raise EngineError("template", str(error)) from error
        begins = bool(self._bos) and pieces[0][0].startswith(self._bos)
        tokens: list[int] = [] if begins else self._llama.tokenize(b"", add_bos=True)
        for text, is_ours in pieces:
            tokens += self._llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=is_ours)
        if len(tokens) >= self._llama.n_ctx():
            raise EngineError("too_long", str(len(tokens)))
        return tokens

    def _grammar(self, schema: Mapping[str, Any]) -> Any:
        try:
            return self._lib.LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
        except Exception as error:
            raise EngineError("schema", str(error)) from error

    def _known(self, tokens: Sequence[int]) -> int:
        """Return how many tokens of a prompt are computed already; the last one is always computed again."""
        done = self._llama.input_ids[: self._llama.n_tokens].tolist()
        return int(self._llama.longest_token_prefix(done, tokens[:-1]))

    def _keep(self, count: int) -> int:
        """Forget all but the first `count` tokens, or all where the model cannot do that; return what is left."""
        memory = self._lib.llama_get_memory(self._llama.ctx)
        if memory is not None and self._lib.llama_memory_seq_rm(memory, 0, count, -1):
            self._llama.n_tokens = count
        else:
            self._llama.reset()
        return int(self._llama.n_tokens)

    def _piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        size = self._lib.llama_token_to_piece(self._vocab, token, buffer, _PIECE_BYTES, 0, False)
        return buffer.raw[: max(size, 0)]

    def _name_of(self, token: int) -> str:
        if token < 0:
            return ""
        name: bytes = self._lib.llama_vocab_get_text(self._vocab, token)
        return name.decode("utf-8", "replace")

    def _first_tokens(self, words: Iterable[str]) -> frozenset[int]:
        """Return the tokens with which the spellings begin, without those that stand for a blank only."""
        rows = (self._llama.tokenize(word.encode(), add_bos=False, special=False) for word in words)
        return frozenset(row[0] for row in rows if row and self._piece(row[0]).strip())


def _log_sum(values: Iterable[float]) -> float:
    """Return the logarithm of the sum of exponentials."""
    known = [*values]
    top = max(known)
    return top + math.log(sum(math.exp(value - top) for value in known))
