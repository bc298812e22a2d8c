from oodometer.data.imagenet import imagenet, imagenet_index, imagenet_names


def test_the_classes_are_in_the_order_of_their_wordnet_ids():
    # ILSVRC 2012 as every published model answers it: sorted by WordNet id
    assert list(imagenet().classes) == sorted(imagenet().classes)
    assert len(set(imagenet().classes)) == len(imagenet_names()) == 1000


def test_known_classes():
    # Keras' imagenet_class_index.json: 207 is n02099601 golden retriever, 999 is n15075141 toilet tissue
    assert imagenet_index()["n02099601"] == 207
    assert imagenet_index()["n15075141"] == 999
    assert imagenet_names()[207] == "golden_retriever"
