"""Whether a judge of drafts can judge, and what it says where it can.

Who they are: `judge` holds the contracts of judge, critic and the model they ask, `types` what goes in and out. What
they see: `item` takes a draft apart; `asking` and `comparing` put it to them and check what they answer.

Whether they are heard: `exam` holds the labelled items, `calibrating` measures with them, `records` keep what was
measured, and a `seat` says whether that is enough.
"""
