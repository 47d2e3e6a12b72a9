package kubernetes

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/intentplane/intentplane/test/controlplane/process"
)

// WaitForDefinitions returns when the API server's own list of resources has all defined kinds, which may be after it serves them. A controller that reads the
// list earlier exits, or does not know a kind until it reads the list again: the garbage collector 30 seconds later. Its error names the missing definitions.
func (k *Cluster) WaitForDefinitions(ctx context.Context) error {
	d, err := discovery.NewDiscoveryClientForConfig(k.Config)
	if err != nil {
		return errors.Wrap(err, "cannot make client")
	}
	var missing []string
	err = process.PollUntil(ctx, func(ctx context.Context) (bool, error) {
		all := &metav1.PartialObjectMetadataList{}
		all.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
		if err := k.Client.List(ctx, all); err != nil {
			return false, nil //nolint:nilerr // It is tried again.
		}
		_, lists, err := d.ServerGroupsAndResources()
		missing = unlistedDefinitions(all.Items, lists)
		return err == nil && len(missing) == 0, nil
	})
	return errors.Wrapf(err, "cannot see %s in the list of resources", strings.Join(missing, ", "))
}

// unlistedDefinitions returns the names of the definitions without a listed version.
func unlistedDefinitions(defined []metav1.PartialObjectMetadata, lists []*metav1.APIResourceList) []string {
	listed := map[string]bool{}
	for _, l := range lists {
		group, _, _ := strings.Cut(l.GroupVersion, "/")
		for i := range l.APIResources {
			listed[l.APIResources[i].Name+"."+group] = true
		}
	}
	out := []string{}
	for i := range defined {
		if name := defined[i].GetName(); !listed[name] {
			out = append(out, name)
		}
	}
	return out
}
