"""The gradients of ONNX networks: their graphs computed in torch, compared with onnxruntime before they are used."""
