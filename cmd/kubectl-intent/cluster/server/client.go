// Package server reads, writes and watches objects of an API server, and names the remedies of its errors. It has no notion of their kinds.
package server

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// AllNamespaces stands for every namespace.
const AllNamespaces = metav1.NamespaceAll

// A Client sends the requests of a command to an API server.
type Client struct {
	objects dynamic.Interface

	// watcher is a client whose requests last until their context ends.
	watcher dynamic.Interface

	// logs has the core group, and requests that last until their context ends.
	logs rest.Interface

	// lists objects without decoding them. Nil lists them by objects.
	lists rest.Interface

	// versions has the version of the API server.
	versions discovery.ServerVersionInterface
}

// NewClient returns a client that reads, writes and watches objects by a dynamic client alone. It has no logs and no version.
func NewClient(objects dynamic.Interface) *Client {
	return &Client{objects: objects, watcher: objects}
}

// Connect returns a client of the API server of a connection, which has no timeout of its own. The timeout is for each request but watches and logs; 0 means
// none. Connect sends no request. It returns an error for a connection that cannot be used.
func Connect(c *rest.Config, timeout time.Duration) (*Client, error) {
	c = rest.CopyConfig(c)
	watcher, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, errors.Wrap(err, "cannot use the kubeconfig")
	}
	logs, err := newCoreClient(c)
	if err != nil {
		return nil, err
	}
	c.Timeout = timeout
	objects, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, errors.Wrap(err, "cannot use the kubeconfig")
	}
	lists, err := newListClient(c)
	if err != nil {
		return nil, err
	}
	versions, err := discovery.NewDiscoveryClientForConfig(c)
	return &Client{objects: objects, watcher: watcher, logs: logs, lists: lists, versions: versions}, errors.Wrap(err, "cannot use the kubeconfig")
}

// newCoreClient returns a client of the core group that does not end a request by itself.
func newCoreClient(c *rest.Config) (rest.Interface, error) {
	core := rest.CopyConfig(c)
	core.APIPath, core.GroupVersion = "/api", &corev1.SchemeGroupVersion
	core.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	client, err := rest.RESTClientFor(core)
	return client, errors.Wrap(err, "cannot use the kubeconfig")
}

// newListClient returns a client that lists objects without decoding them.
func newListClient(c *rest.Config) (rest.Interface, error) {
	lists := rest.CopyConfig(c)
	lists.APIPath, lists.GroupVersion, lists.NegotiatedSerializer = "/apis", &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(lists)
	return client, errors.Wrap(err, "cannot use the kubeconfig")
}

// Resource returns the requests about a resource.
func (c *Client) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return c.objects.Resource(r)
}

// Create creates an object, and returns it as the server has it. It returns an error when the server refuses it.
func (c *Client) Create(ctx context.Context, r schema.GroupVersionResource, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	created, err := c.objects.Resource(r).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return nil, DescribeError(err, "create", r, "")
	}
	return created, nil
}

// Version returns the version of the API server. It returns an error when the server does not report it.
func (c *Client) Version() (string, error) {
	v, err := c.versions.ServerVersion()
	if err != nil {
		return "", err
	}
	return v.GitVersion, nil
}

// StreamLog returns the log of a container of a pod, to be closed. It returns an error when it cannot be read.
func (c *Client) StreamLog(ctx context.Context, namespace, pod, container string, follow bool) (io.ReadCloser, error) {
	r := c.logs.Get().Namespace(namespace).Resource("pods").Name(pod).SubResource("log").Param("container", container)
	if follow {
		r = r.Param("follow", strconv.FormatBool(follow))
	}
	out, err := r.Stream(ctx)
	if err != nil {
		return nil, DescribeError(err, "get the log of "+container+" of", schema.GroupVersionResource{Version: "v1", Resource: "pods"}, pod)
	}
	return out, nil
}
