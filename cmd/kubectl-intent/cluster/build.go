package cluster

import (
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

func imageBuildsResource() schema.GroupVersionResource {
	return buildv1alpha1.GroupVersion.WithResource("imagebuilds")
}

func kpackBuildsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kpack.io", Version: "v1alpha2", Resource: "builds"}
}

// ErrForeignBuild is the error for an ImageBuild of an Application's name that was composed for another object.
var ErrForeignBuild = errors.New("the ImageBuild of that name does not belong to this Application")

// ImageBuild returns the ImageBuild of an Application of the namespace, by the API group and the name of the Application. It returns an error when there is
// none, ErrForeignBuild for the ImageBuild of another object, and an error when the user may not read it.
func (c *Cluster) ImageBuild(ctx context.Context, group, name string) (*buildv1alpha1.ImageBuild, error) {
	o, err := c.api.Get(ctx, imageBuildsResource(), c.namespace, name)
	if err != nil {
		return nil, server.DescribeError(err, "get", imageBuildsResource(), name)
	}
	out := &buildv1alpha1.ImageBuild{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, out); err != nil {
		return nil, errors.Wrapf(err, "cannot read ImageBuild %q", name)
	}
	if out.Spec.ForProvider.ClaimRef.APIGroup != group {
		return nil, ErrForeignBuild
	}
	return out, nil
}

// PodOfBuild returns the name of the pod of a Build of kpack. It returns an error when the Build is gone, may not be read, or has no pod.
func (c *Cluster) PodOfBuild(ctx context.Context, name string) (string, error) {
	o, err := c.api.Get(ctx, kpackBuildsResource(), c.namespace, name)
	if err != nil {
		return "", server.DescribeError(err, "get", kpackBuildsResource(), name)
	}
	pod, _, _ := unstructured.NestedString(o.Object, "status", "podName")
	if pod == "" {
		return "", errors.Errorf("Build %s has no pod yet", name)
	}
	return pod, nil
}

// StreamLog returns the log of a container of a pod of the namespace, to be closed. It returns an error when it cannot be read.
func (c *Cluster) StreamLog(ctx context.Context, pod, container string, follow bool) (io.ReadCloser, error) {
	return c.api.StreamLog(ctx, c.namespace, pod, container, follow)
}
