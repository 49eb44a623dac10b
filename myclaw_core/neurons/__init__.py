"""Skills as signed directories.

What one is: `types`, `manifest` with `capabilities`, `patterns`, `quotas` and `schemas`; on the disk `folder`,
`normal`, `signing`, `verified`; those that come along `shipped`.

How one gets in: `adopting` takes it through every stage. `checking` (with the package `analysis`) is stage 4, `birth`
with `scratch` runs its tests, `birth_mutants` and `birth_trials` hold them against small changes of the body; what they
are worth the package of synthesis says. What was tested is kept by `drafts`, shown by `dossier` with `dossier_reward`,
asked about (`questions`) and let in by `admission`, the gate, which reads the yes in the log (`agreed`); `placing`
writes it so that `settling` can complete at the next start what was interrupted. `rotation` exchanges the key. All of
them change folders under one `lock`.

How one stands: `records` hold which bytes may run. `book` compares them with what `looking` finds and puts tools on
the shelf (`ports` is what the runtime sees of it), `orders` are the person's, `waiting` names those that wait for a
yes, `journals` and `provenance` say what it did and from where its bytes come, `words` tells people.

How one runs: `running` starts the sandbox and holds the `conversation` with the package `inside`, whose `requests`
are answered by a `world` within the `rights` of the manifest and the time on the `wall`; `refusing` tells a body that
failed from one that refused.
"""
