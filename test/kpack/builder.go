package kpack

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/patience"
)

const (
	apiVersion = "kpack.io/v1alpha2"

	// look is the time between two observations of the ClusterBuilder.
	look = 100 * time.Millisecond
)

const builderObjects = `
apiVersion: v1
kind: ServiceAccount
metadata: {namespace: kpack, name: builder}
---
apiVersion: kpack.io/v1alpha2
kind: ClusterLifecycle
metadata: {name: default-lifecycle}
spec: {image: %[1]s}
---
apiVersion: kpack.io/v1alpha2
kind: ClusterStore
metadata: {name: default}
spec: {sources: [{image: %[2]s}]}
---
apiVersion: kpack.io/v1alpha2
kind: ClusterStack
metadata: {name: default}
spec: {id: org.example.stack, buildImage: {image: %[3]s}, runImage: {image: %[4]s}}
---
apiVersion: kpack.io/v1alpha2
kind: ClusterBuilder
metadata: {name: default}
spec:
  tag: %[5]s/kpack/builder
  serviceAccountRef: {namespace: kpack, name: builder}
  stack: {kind: ClusterStack, name: default}
  store: {kind: ClusterStore, name: default}
  order: [{group: [{id: example/app}]}]
`

// makeBuilder lets kpack make the ClusterBuilder of a lifecycle, a buildpack and a stack, and returns when it did.
func (k *Kpack) makeBuilder(ctx context.Context) error {
	lifecycle, err := k.pushLatestImage(ctx, "lifecycle", makeLifecycleImage)
	if err != nil {
		return err
	}
	pack, err := k.pushLatestImage(ctx, "buildpack", func() (v1.Image, error) { return makeBuildpackImage("1.0.0") })
	if err != nil {
		return err
	}
	build, err := k.pushLatestImage(ctx, "build", func() (v1.Image, error) { return makeStackImage("build") })
	if err != nil {
		return err
	}
	run, err := k.pushLatestImage(ctx, "run", func() (v1.Image, error) { return makeStackImage("run 1") })
	if err != nil {
		return err
	}
	if err := k.cp.ApplyYAML(ctx, fmt.Appendf(nil, builderObjects, lifecycle, pack, build, run, k.cp.Registry())); err != nil {
		return err
	}
	return k.awaitBuilder(ctx, "")
}

// UpdateStack gives the ClusterBuilder another run image, and returns when it has it: kpack builds each Image once more. It returns an error if kpack does
// not make the ClusterBuilder.
func (k *Kpack) UpdateStack(ctx context.Context, content string) error {
	previous := builderImage(k.builderObject(ctx))
	run, err := k.pushLatestImage(ctx, "run", func() (v1.Image, error) { return makeStackImage(content) })
	if err != nil {
		return err
	}
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"runImage":{"image":%q}}}`, run))
	if err := k.cp.Client.Patch(ctx, newUnstructured("ClusterStack", "default"), patch); err != nil {
		return errors.Wrap(err, "cannot change ClusterStack")
	}
	return k.awaitBuilder(ctx, previous)
}

func (k *Kpack) pushLatestImage(ctx context.Context, repository string, newImage func() (v1.Image, error)) (string, error) {
	img, err := newImage()
	if err != nil {
		return "", err
	}
	return pushTaggedImage(ctx, img, k.cp.Registry()+"/kpack/"+repository+":latest")
}

// awaitBuilder waits until the ClusterBuilder is ready with another image than before.
func (k *Kpack) awaitBuilder(ctx context.Context, previous string) error {
	var last *unstructured.Unstructured
	err := wait.PollUntilContextTimeout(ctx, look, patience.Limit, true, func(ctx context.Context) (bool, error) {
		last = k.builderObject(ctx)
		image := builderImage(last)
		return image != "" && image != previous, nil
	})
	return errors.Wrapf(err, "cannot see ClusterBuilder ready: %v", last.Object["status"])
}

// builderObject returns the ClusterBuilder, as far as it can be read.
func (k *Kpack) builderObject(ctx context.Context) *unstructured.Unstructured {
	o := newUnstructured("ClusterBuilder", Builder)
	_ = k.cp.Client.Get(ctx, client.ObjectKeyFromObject(o), o) // It is read again.
	return o
}

func builderImage(o *unstructured.Unstructured) string {
	image, _, _ := unstructured.NestedString(o.Object, "status", "latestImage")
	return image
}

func newUnstructured(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}
