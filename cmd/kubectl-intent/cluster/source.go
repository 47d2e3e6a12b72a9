package cluster

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A source has objects: the API server, or what watches have shown of it.
type source interface {
	// get returns an object, or the error of an API server.
	get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error)

	// list returns the objects with these labels.
	list(ctx context.Context, r schema.GroupVersionResource, namespace string, with labels.Set) ([]unstructured.Unstructured, error)

	// visitPages lists objects, and calls visit with each page. If it returns an error, visit has had the pages before.
	visitPages(ctx context.Context, r schema.GroupVersionResource, namespace string, with labels.Set, visit func([]unstructured.Unstructured)) error
}

func (c *Cluster) get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	return c.client.Resource(r).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// listPage is how many objects one request asks for. A GitDelivery may have nearly a megabyte, and a deployment has few of these.
const listPage = 500

func (c *Cluster) list(ctx context.Context, r schema.GroupVersionResource, namespace string, with labels.Set) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	err := c.visitPages(ctx, r, namespace, with, func(page []unstructured.Unstructured) { out = append(out, page...) })
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

// compareNames orders objects as an API server lists them.
func compareNames(a, b *unstructured.Unstructured) int {
	return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
}
