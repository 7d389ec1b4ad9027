#!/bin/sh
OVERLAY="clusters/demo"
kubectl apply -k "$OVERLAY"
