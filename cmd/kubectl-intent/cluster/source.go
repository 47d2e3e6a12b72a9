package cluster

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/listing"
)

// A source has objects: the API server, or the caches of watches.
type source interface {
	// get returns an object, or the error of an API server.
	get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error)

	// visitPages lists objects with these labels, and calls visit with each page. If it returns an error, visit has had the pages before.
	visitPages(ctx context.Context, r schema.GroupVersionResource, namespace string, extra labels.Set, visit func([]unstructured.Unstructured)) error

	// visitObjects calls visit with all objects, some at a time and in their order. visit decodes them. If it returns an error, visit has had the objects before.
	visitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]object)) error
}

// An object of a list is decoded, or as an API server wrote it: thousands of objects take less than half the time if each is decoded once, into its type.
type object struct {
	decoded *unstructured.Unstructured
	encoded json.RawMessage
}

// decode the object as far as its kind is known.
func (o object) decode(into any) error {
	if o.decoded != nil {
		return decodeObject(o.decoded, into)
	}
	return errors.Wrap(json.Unmarshal(o.encoded, into), "cannot decode the object of the cluster")
}

// name returns the namespace and the name of an object, also if the rest cannot be decoded into its type.
func (o object) name() string {
	var named metav1.Object = o.decoded
	if o.decoded == nil {
		m := &metav1.PartialObjectMetadata{}
		if json.Unmarshal(o.encoded, m) != nil {
			return "without a name"
		}
		named = m
	}
	return strings.TrimPrefix(named.GetNamespace()+"/"+named.GetName(), "/")
}

// objectsOf returns objects that were decoded already.
func objectsOf(all []unstructured.Unstructured) []object {
	out := make([]object, len(all))
	for i := range all {
		out[i].decoded = &all[i]
	}
	return out
}

func (c *Cluster) get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	return c.client.Resource(r).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// listPage is how many objects one request asks for. A GitDelivery may have nearly a megabyte, and a deployment has few of these.
const listPage = 500

func (c *Cluster) list(ctx context.Context, r schema.GroupVersionResource, namespace string) ([]unstructured.Unstructured, error) {
	return listAll(ctx, c, r, namespace, nil)
}

// listAll returns the objects with these labels.
func listAll(ctx context.Context, from source, r schema.GroupVersionResource, namespace string, selector labels.Set) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	err := from.visitPages(ctx, r, namespace, selector, func(page []unstructured.Unstructured) { out = append(out, page...) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *Cluster) visitPages(ctx context.Context, r schema.GroupVersionResource, namespace string, selector labels.Set, visit func([]unstructured.Unstructured)) error {
	options := metav1.ListOptions{Limit: listPage, LabelSelector: selector.String()}
	for {
		page, err := c.client.Resource(r).Namespace(namespace).List(ctx, options)
		if err != nil {
			return err
		}
		visit(page.Items)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// visitObjects reads page after page as they arrive.
func (c *Cluster) visitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]object)) error {
	if c.lists == nil {
		return c.visitPages(ctx, r, namespace, nil, func(page []unstructured.Unstructured) { visit(objectsOf(page)) })
	}
	for token := ""; ; {
		next, err := c.visitPage(ctx, r, namespace, token, visit)
		if err != nil || next == "" {
			return err
		}
		token = next
	}
}

// visitPage reads the first page, or the page that a token continues with, and returns the token of the next page.
func (c *Cluster) visitPage(ctx context.Context, r schema.GroupVersionResource, namespace, token string, visit func([]object)) (string, error) {
	body, err := c.listRequest(r, namespace, token).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	return listing.Read(body, func(chunk []json.RawMessage) {
		all := make([]object, len(chunk))
		for i := range chunk {
			all[i].encoded = chunk[i]
		}
		visit(all)
	})
}

func (c *Cluster) listRequest(r schema.GroupVersionResource, namespace, token string) *rest.Request {
	path := []string{"/apis", r.Group, r.Version}
	if namespace != AllNamespaces {
		path = append(path, "namespaces", namespace)
	}
	out := c.lists.Get().AbsPath(append(path, r.Resource)...).SetHeader("Accept", runtime.ContentTypeJSON).Param("limit", strconv.Itoa(listPage))
	if token != "" {
		out.Param("continue", token)
	}
	return out
}

// newListClient returns a client that lists objects without decoding them.
func newListClient(c *rest.Config) (rest.Interface, error) {
	lists := rest.CopyConfig(c)
	lists.APIPath, lists.GroupVersion, lists.NegotiatedSerializer = "/apis", &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(lists)
	return client, errors.Wrap(err, "cannot use the kubeconfig")
}

// compareNames orders objects as an API server lists them.
func compareNames(a, b *unstructured.Unstructured) int {
	return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
}
