"""A small table of accuracies: five standard models on a line, and one that was made from the third."""

TABLE = """\
model,val,v2,c/fog/1,c/fog/2
a,60,47,40,30
b,65,53,47,36
c,70,58,52,41
d,75,64,58,46
e,80,71,65,55
robust,70,62,60,52
"""
CATEGORIES = """\
model,category,parent
a,standard,
b,standard,
c,standard,
d,standard,
e,standard,
robust,robust_intervention,c
"""
