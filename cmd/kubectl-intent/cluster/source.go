package cluster

import (
	"bytes"
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

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A source has objects: the API server, or what watches have shown of it.
type source interface {
	// get returns an object, or the error of an API server.
	get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error)

	// visitPages lists objects with these labels, and calls visit with each page. If it returns an error, visit has had the pages before.
	visitPages(ctx context.Context, r schema.GroupVersionResource, namespace string, with labels.Set, visit func([]unstructured.Unstructured)) error

	// visitObjects is visitPages for all objects, which are decoded by who is visited.
	visitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]object)) error
}

// An object of a list is decoded, or as an API server wrote it: thousands of objects take less than half the time where each is decoded once, into its type.
type object struct {
	decoded *unstructured.Unstructured
	encoded json.RawMessage
}

// decode the object as far as its kind is known.
func (o object) decode(into any) error {
	if o.decoded != nil {
		return decodeObject(o.decoded, into)
	}
	return errors.Wrap(json.Unmarshal(o.encoded, into), "cannot decode what the cluster has")
}

// asUnstructured returns the object with all of its fields, or an empty one where it has none.
func (o object) asUnstructured() *unstructured.Unstructured {
	if o.decoded != nil {
		return o.decoded
	}
	out := &unstructured.Unstructured{}
	if json.Unmarshal(o.encoded, &out.Object) != nil {
		out.Object = nil
	}
	return out
}

// composite returns the reference of a claim to the composite that Crossplane created for it.
func (o object) composite() cause.Reference {
	if o.decoded == nil && !bytes.Contains(o.encoded, []byte(`"resourceRef"`)) {
		return cause.Reference{}
	}
	ref, _, _ := unstructured.NestedStringMap(o.asUnstructured().Object, "spec", "resourceRef")
	return cause.Reference{APIVersion: ref["apiVersion"], Kind: ref["kind"], Name: ref["name"]}
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

func (c *Cluster) list(ctx context.Context, r schema.GroupVersionResource, namespace string, with labels.Set) ([]unstructured.Unstructured, error) {
	return listAll(ctx, c, r, namespace, with)
}

// listAll returns the objects with these labels.
func listAll(ctx context.Context, from source, r schema.GroupVersionResource, namespace string, with labels.Set) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	err := from.visitPages(ctx, r, namespace, with, func(page []unstructured.Unstructured) { out = append(out, page...) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *Cluster) visitPages(ctx context.Context, r schema.GroupVersionResource, namespace string, with labels.Set, visit func([]unstructured.Unstructured)) error {
	options := metav1.ListOptions{Limit: listPage, LabelSelector: with.String()}
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

// visitObjects asks for the next page while the objects of this one are decoded elsewhere.
func (c *Cluster) visitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]object)) error {
	if c.lists == nil {
		return c.visitPages(ctx, r, namespace, nil, func(page []unstructured.Unstructured) { visit(objectsOf(page)) })
	}
	token := ""
	for {
		page, err := c.listEncoded(ctx, r, namespace, token)
		if err != nil {
			return err
		}
		all := make([]object, len(page.Items))
		for i := range page.Items {
			all[i].encoded = page.Items[i]
		}
		visit(all)
		if token = page.Metadata.Continue; token == "" {
			return nil
		}
	}
}

// An encodedList is a page of a list, whose objects are not decoded.
type encodedList struct {
	Metadata metav1.ListMeta   `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

// listEncoded returns a page: the first one, or the one that a token of the page before continues with.
func (c *Cluster) listEncoded(ctx context.Context, r schema.GroupVersionResource, namespace, token string) (*encodedList, error) {
	path := []string{"/apis", r.Group, r.Version}
	if namespace != AllNamespaces {
		path = append(path, "namespaces", namespace)
	}
	request := c.lists.Get().AbsPath(append(path, r.Resource)...).SetHeader("Accept", runtime.ContentTypeJSON).Param("limit", strconv.Itoa(listPage))
	if token != "" {
		request.Param("continue", token)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	b, err := result.Raw()
	if err != nil {
		return nil, err
	}
	out := &encodedList{}
	return out, errors.Wrap(json.Unmarshal(b, out), "cannot decode a list")
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
