"""Making a skill out of a failure.

What asks for one: `triggers` says which turns failed for want of a skill, `failed_goals` remembers them, `patterns`
finds what fails again and again; `rests` keep what was given up from being tried at once (`goals` says which are the
same). `wanted` makes requests, `after_turn` asks after a turn, `direction` is the question whether it may begin.

How one is made: `pipeline` takes it from stage to stage, `store` keeps how it stands, `moves` hold the rules about
retries, `errors` say why an attempt does not go on. `spec_stage` (with `prechecks` and `similar`), `draft_stage` and
`tests_stage` are the stages, `run` the trace in which they call models, `gate` the two questions to the person, `lock`
lets one process at a time go on.

What a model is asked: an `author` words it from `briefs` that are made from `materials` and the `story` of the turn;
`answers` reads what comes back.

What it is worth: `rewarding` weighs the parts of the hook whose contract is `reward`; `judged` asks the judge.
"""
