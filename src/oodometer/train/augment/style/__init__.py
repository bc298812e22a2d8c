"""Style transfer by adaptive instance normalisation (Huang & Belongie 2017), with networks that are learned here."""
