package cluster

import (
	"context"
	"io"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

func imageBuildsResource() schema.GroupVersionResource {
	return buildv1alpha1.GroupVersion.WithResource("imagebuilds")
}

func kpackBuildsResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kpack.io", Version: "v1alpha2", Resource: "builds"}
}

// newCoreClient returns a client of the core group that does not end a request by itself.
func newCoreClient(c *rest.Config) (rest.Interface, error) {
	core := rest.CopyConfig(c)
	core.APIPath, core.GroupVersion = "/api", &corev1.SchemeGroupVersion
	core.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	client, err := rest.RESTClientFor(core)
	return client, errors.Wrap(err, "cannot use the kubeconfig")
}

// ErrForeignBuild is the error for an ImageBuild of an Application's name that was composed for another object.
var ErrForeignBuild = errors.New("the ImageBuild of that name does not belong to this Application")

// ImageBuild returns the ImageBuild of an Application of the namespace, by the API group and the name of the Application. It returns an error when there is
// none, ErrForeignBuild for the ImageBuild of another object, and an error when the user may not read it.
func (c *Cluster) ImageBuild(ctx context.Context, group, name string) (*buildv1alpha1.ImageBuild, error) {
	o, err := c.get(ctx, imageBuildsResource(), c.namespace, name)
	if err != nil {
		return nil, describeError(err, "get", imageBuildsResource(), name)
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
	o, err := c.get(ctx, kpackBuildsResource(), c.namespace, name)
	if err != nil {
		return "", describeError(err, "get", kpackBuildsResource(), name)
	}
	pod, _, _ := unstructured.NestedString(o.Object, "status", "podName")
	if pod == "" {
		return "", errors.Errorf("Build %s has no pod yet", name)
	}
	return pod, nil
}

// StreamLog returns the log of a container of a pod of the namespace, to be closed. It returns an error when it cannot be read.
func (c *Cluster) StreamLog(ctx context.Context, pod, container string, follow bool) (io.ReadCloser, error) {
	r := c.logs.Get().Namespace(c.namespace).Resource("pods").Name(pod).SubResource("log").Param("container", container)
	if follow {
		r = r.Param("follow", strconv.FormatBool(follow))
	}
	out, err := r.Stream(ctx)
	if err != nil {
		return nil, describeError(err, "get the log of "+container+" of", schema.GroupVersionResource{Version: "v1", Resource: "pods"}, pod)
	}
	return out, nil
}
