//go:build generate

// Package apis holds the API types, and the generated code and manifests of them: deep copies, method sets, the provider's CRDs, and the definitions and
// Compositions of the Configurations. Run it with make generate, which sets CONTROLLER_GEN and ANGRYJET.
package apis

//go:generate sh -c "rm -rf ../package/provider/crds ../_output/generate && mkdir -p ../_output/generate"
//go:generate sh -c "exec \"$CONTROLLER_GEN\" object paths=./..."
//go:generate sh -c "exec \"$CONTROLLER_GEN\" crd:crdVersions=v1 'paths=./build/...;./catalog/...;./cluster/...;./config/...;./delivery/...;./rollout/...;./state/...' output:crd:artifacts:config=../package/provider/crds"
//go:generate sh -c "exec \"$CONTROLLER_GEN\" crd:crdVersions=v1 'paths=./application/...;./bundle/...;./deployment/...;./workloadcluster/...' output:crd:artifacts:config=../_output/generate"
//go:generate sh -c "exec \"$ANGRYJET\" generate-methodsets ./build/..."
//go:generate sh -c "exec \"$ANGRYJET\" generate-methodsets ./delivery/..."
//go:generate sh -c "exec \"$ANGRYJET\" generate-methodsets ./cluster/..."
//go:generate sh -c "exec \"$ANGRYJET\" generate-methodsets ./config/..."
//go:generate sh -c "exec \"$ANGRYJET\" generate-methodsets ./rollout/..."
//go:generate sh -c "exec \"$ANGRYJET\" generate-methodsets ./state/..."
//go:generate go run ../package/observability/generate ../package/observability
//go:generate go run ./composition/generate -crds ../_output/generate -out ./composition
