package clusterapi

import (
	"cmp"
	"encoding/base64"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// manifests of one provider, as they are applied here.
type manifests struct {
	plain, webhooks []*unstructured.Unstructured
}

// readKustomization reads a kustomization of Cluster API's. Workloads of a cluster are left out, and webhooks are called by URL.
func readKustomization(dir, url string, ca []byte) (manifests, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return manifests{}, errors.Wrapf(err, "cannot build %s", dir)
	}
	out := manifests{}
	for _, r := range built.Resources() {
		m, err := r.Map()
		if err != nil {
			return manifests{}, errors.Wrapf(err, "cannot read %s", dir)
		}
		if err := out.addManifest(&unstructured.Unstructured{Object: m}, url, base64.StdEncoding.EncodeToString(ca)); err != nil {
			return manifests{}, err
		}
	}
	slices.SortStableFunc(out.plain, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rankForApply(a), rankForApply(b)) })
	return out, nil
}

// rankForApply returns the rank of an object in the order of application: other objects lie in a namespace.
func rankForApply(o *unstructured.Unstructured) int {
	if o.GetKind() == "Namespace" {
		return 0
	}
	return 1
}

func (m *manifests) addManifest(o *unstructured.Unstructured, url, ca string) error {
	switch o.GetKind() {
	case "Deployment", "Service", "Certificate", "Issuer":
		return nil
	case "CustomResourceDefinition":
		m.plain = append(m.plain, o)
		return setWebhookURL(o.Object, url+"/convert", ca, "spec", "conversion", "webhook", "clientConfig")
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		m.webhooks = append(m.webhooks, o)
		return callWebhooksByURL(o, url, ca)
	}
	m.plain = append(m.plain, o)
	return nil
}

// callWebhooksByURL calls each webhook at the path where its service would have it.
func callWebhooksByURL(o *unstructured.Unstructured, url, ca string) error {
	hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
	if err != nil {
		return errors.Wrap(err, "cannot read webhooks")
	}
	for _, h := range hooks {
		hook, ok := h.(map[string]any)
		if !ok {
			return errors.Errorf("%s %s has a webhook that is none", o.GetKind(), o.GetName())
		}
		path, _, _ := unstructured.NestedString(hook, "clientConfig", "service", "path")
		if err := setWebhookURL(hook, url+path, ca, "clientConfig"); err != nil {
			return err
		}
	}
	return errors.Wrap(unstructured.SetNestedSlice(o.Object, hooks, "webhooks"), "cannot write webhooks")
}

func setWebhookURL(in map[string]any, url, ca string, fields ...string) error {
	return errors.Wrap(unstructured.SetNestedField(in, map[string]any{"url": url, "caBundle": ca}, fields...), "cannot write client of webhook")
}
