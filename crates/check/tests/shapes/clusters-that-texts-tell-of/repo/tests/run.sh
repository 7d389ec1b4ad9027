#!/bin/sh
kubectl apply -k clusters/e2e
