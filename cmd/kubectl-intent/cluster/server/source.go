package server

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/listing"
)

// A Source has objects: an API server, or the stores of Watches.
type Source interface {
	// Get returns an object, or the error of an API server.
	Get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error)

	// VisitPages lists objects with these labels, and calls visit with each page. If it returns an error, visit has had the pages before.
	VisitPages(ctx context.Context, r schema.GroupVersionResource, namespace string, selector labels.Set, visit func([]unstructured.Unstructured)) error

	// VisitObjects calls visit with all objects, some at a time and in their order. visit decodes them. If it returns an error, visit has had the objects before.
	VisitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]Object)) error
}

// Get returns an object, or the error of the API server.
func (c *Client) Get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	return c.objects.Resource(r).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// listPage is the number of objects in the response to one request. A GitDelivery may have nearly a megabyte, and a deployment has few of these.
const listPage = 500

// List returns all objects of a resource in a namespace, or in AllNamespaces. It returns the error of the API server, and no object with it.
func (c *Client) List(ctx context.Context, r schema.GroupVersionResource, namespace string) ([]unstructured.Unstructured, error) {
	return ListAll(ctx, c, r, namespace, nil)
}

// ListAll returns the objects with these labels. It returns the error of the source, and no object with it.
func ListAll(ctx context.Context, from Source, r schema.GroupVersionResource, namespace string, selector labels.Set) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	err := from.VisitPages(ctx, r, namespace, selector, func(page []unstructured.Unstructured) { out = append(out, page...) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// VisitPages lists objects with these labels, and calls visit with each page. If it returns an error, visit has had the pages before.
func (c *Client) VisitPages(
	ctx context.Context, r schema.GroupVersionResource, namespace string, selector labels.Set, visit func([]unstructured.Unstructured),
) error {
	options := metav1.ListOptions{Limit: listPage, LabelSelector: selector.String()}
	for {
		page, err := c.objects.Resource(r).Namespace(namespace).List(ctx, options)
		if err != nil {
			return err
		}
		visit(page.Items)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// VisitObjects calls visit with all objects while their pages arrive. If it returns an error, visit has had the objects before.
func (c *Client) VisitObjects(ctx context.Context, r schema.GroupVersionResource, namespace string, visit func([]Object)) error {
	if c.lists == nil {
		return c.VisitPages(ctx, r, namespace, nil, func(page []unstructured.Unstructured) { visit(decodedObjects(page)) })
	}
	for token := ""; ; {
		next, err := c.visitListPage(ctx, r, namespace, token, visit)
		if err != nil || next == "" {
			return err
		}
		token = next
	}
}

// visitListPage reads the first page, or the page that a token continues with, and returns the token of the next page.
func (c *Client) visitListPage(ctx context.Context, r schema.GroupVersionResource, namespace, token string, visit func([]Object)) (string, error) {
	body, err := c.listRequest(r, namespace, token).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	return listing.Read(body, func(chunk []json.RawMessage) {
		all := make([]Object, len(chunk))
		for i := range chunk {
			all[i] = Encoded(chunk[i])
		}
		visit(all)
	})
}

func (c *Client) listRequest(r schema.GroupVersionResource, namespace, token string) *rest.Request {
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

// compareNames orders objects as an API server lists them.
func compareNames(a, b *unstructured.Unstructured) int {
	return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
}
