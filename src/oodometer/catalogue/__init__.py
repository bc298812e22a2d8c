"""What is published: data sets, shifts and papers, as tables; and the one way from a name to an entry."""
