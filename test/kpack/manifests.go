package kpack

import (
	"context"
	"encoding/base64"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

const (
	// observability is a ConfigMap that both programs read.
	observability = "config-observability"

	// settings switch the profiles on, by which the controller shows that it is ready, and metrics off, for which both programs would take one port.
	settings = `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: ` + Namespace + `, name: ` + observability + `}
data: {profiling.enable: "true", metrics.backend-destination: none}
`
)

// manifests are objects of kpack as they are applied here.
type manifests struct {
	plain, webhooks []*unstructured.Unstructured
}

// readManifests reads the sources of kpack's release. Workloads of a cluster are left out, and webhooks are called by URL.
func readManifests(dir, url string, c certificates) (manifests, error) {
	files, err := kubernetes.YAMLFiles(dir)
	if err != nil {
		return manifests{}, err
	}
	out := manifests{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return manifests{}, errors.Wrapf(err, "cannot read %s", f)
		}
		if err := out.addManifestFile(b, url, c.caCertificate()); err != nil {
			return manifests{}, errors.Wrapf(err, "cannot use %s", f)
		}
	}
	objects, err := kubernetes.ParseYAML([]byte(settings))
	out.plain = append(out.plain, append(objects, c.webhookSecret())...)
	return out, err
}

func (m *manifests) addManifestFile(b []byte, url string, ca []byte) error {
	objects, err := kubernetes.ParseYAML(b)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := m.addManifest(o, url, base64.StdEncoding.EncodeToString(ca)); err != nil {
			return err
		}
	}
	return nil
}

// addManifest adds an object that is of use here. Templates of the release have no values, so objects that they fill are left out.
func (m *manifests) addManifest(o *unstructured.Unstructured, url, ca string) error {
	switch o.GetKind() {
	case "Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
		m.plain = append(m.plain, o)
	case "CustomResourceDefinition":
		m.plain = append(m.plain, o)
		// Only the stored version is used.
		return unstructured.SetNestedMap(o.Object, map[string]any{"strategy": "None"}, "spec", "conversion")
	case "ConfigMap":
		if o.GetName() == "config-logging" {
			m.plain = append(m.plain, o)
		}
	case "MutatingWebhookConfiguration":
		m.webhooks = append(m.webhooks, o)
		return setWebhookURLs(o, url+"/defaults", ca)
	case "ValidatingWebhookConfiguration":
		m.webhooks = append(m.webhooks, o)
		return setWebhookURLs(o, url+"/validate", ca)
	}
	return nil
}

// setWebhookURLs calls the webhooks of a configuration at one URL, with the rules that kpack's own reconciler would write: that one insists on a Service.
func setWebhookURLs(o *unstructured.Unstructured, url, ca string) error {
	hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
	if err != nil {
		return errors.Wrap(err, "cannot read webhooks")
	}
	for _, h := range hooks {
		hook, ok := h.(map[string]any)
		if !ok {
			return errors.Errorf("%s %s has an entry that is not a webhook", o.GetKind(), o.GetName())
		}
		hook["clientConfig"] = map[string]any{"url": url, "caBundle": ca}
		hook["rules"] = []any{map[string]any{
			"apiGroups": []any{"kpack.io"}, "apiVersions": []any{"v1alpha2"}, "operations": []any{"CREATE", "UPDATE"},
			"resources": []any{
				"images", "images/status", "builds", "builds/status", "builders", "builders/status", "clusterbuilders", "clusterbuilders/status",
				"clusterstores", "clusterstores/status", "clusterstacks", "clusterstacks/status", "clusterlifecycles", "clusterlifecycles/status",
			},
		}}
	}
	return errors.Wrap(unstructured.SetNestedSlice(o.Object, hooks, "webhooks"), "cannot write webhooks")
}

func (i *installation) applyObjects(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		if err := i.cp.ApplyObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
