package catalogview

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// TestForSite shows a tenant's view of a Site that has all fields.
func TestForSite(t *testing.T) {
	s := &catalogv1alpha1.Site{
		ObjectMeta: metav1.ObjectMeta{
			Name: "edge1", Labels: map[string]string{"tier": "gold", catalogv1alpha1.LabelUsableFrom: "secret-team"},
			Annotations: map[string]string{"note": "secret-note"},
		},
		Spec: catalogv1alpha1.SiteSpec{
			Cluster: catalogv1alpha1.SiteCluster{
				KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "secret-namespace", Name: "secret-kubeconfig"},
			},
			Engine:            catalogv1alpha1.SiteEngine{Type: "Flux", ObjectRef: &catalogv1alpha1.ObjectReference{Name: "secret-engine"}},
			Repository:        catalogv1alpha1.SiteRepository{Path: "sites/edge1", ProviderConfigRef: &catalogv1alpha1.ClusterConfigReference{Name: "fleet"}},
			AllowedNamespaces: []string{"team-a", "secret-team"},
			TargetNamespaces:  catalogv1alpha1.TargetNamespaces{Allowed: []string{"{claimNamespace}"}},
			Metrics:           &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{Address: "https://secret.example.org"}},
			PostCheck:         &catalogv1alpha1.SitePostCheck{Namespace: "secret-checks", ServiceAccountName: "secret-account"},
			Parameters:        map[string]catalogv1alpha1.ParameterValue{"plmn": "00101"},
			Owner:             &catalogv1alpha1.SiteOwner{Kind: "WorkloadCluster", Namespace: "secret-owner", Name: "secret-cluster"},
		},
	}
	want := Site{
		Name: "edge1", Labels: map[string]string{"tier": "gold"}, Engine: "Flux", Repository: "fleet", Path: "sites/edge1",
		TargetNamespaces: []string{"{claimNamespace}"},
		Checks:           []string{"Prometheus", "Job"}, Parameters: map[string]catalogv1alpha1.ParameterValue{"plmn": "00101"},
	}
	got := ForSite(s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ForSite(...): -want, +got:\n%s", diff)
	}
	if raw, err := json.Marshal(got); err != nil || strings.Contains(string(raw), "secret") {
		t.Errorf("A tenant reads of a Site neither its other users nor where its cluster, its engine and its servers are: %s, %v", raw, err)
	}
}

func TestForBlueprint(t *testing.T) {
	cases := map[string]struct {
		reason string
		schema string
		files  map[string]catalogv1alpha1.File
		want   Blueprint
	}{
		"Schema": {
			reason: "A parameter of the schema has its type, its default and the values that are allowed.",
			schema: `{"required": ["plmn"], "properties": {"plmn": {"type": "string", "description": "Network\ncode"}, "log": {"type": "string", "default": "info", "enum": ["info", "debug"]}}}`,
			want: Blueprint{Parameters: []Parameter{
				{Name: "log", Type: "string", Default: "info", Allowed: []string{"info", "debug"}},
				{Name: "plmn", Type: "string", Required: true, Description: "Network code"},
			}},
		},
		"Defaults": {
			reason: "The defaults of intent.yaml apply to parameters, and to all other values.",
			files:  map[string]catalogv1alpha1.File{"intent.yaml": "data: {param-greeting: Hello, replicas: '2'}"},
			want:   Blueprint{Parameters: []Parameter{{Name: "greeting", Default: "Hello"}}, Defaults: map[string]string{"replicas": "2"}},
		},
		"Broken": {
			reason: "A schema and defaults that cannot be understood name no parameters.",
			schema: `[]`, files: map[string]catalogv1alpha1.File{"intent.yaml": "data: ["},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &catalogv1alpha1.Blueprint{ObjectMeta: metav1.ObjectMeta{Name: "web-1.0.0", Labels: map[string]string{catalogv1alpha1.LabelChannel: "stable"}}}
			b.Spec = catalogv1alpha1.BlueprintSpec{BlueprintName: "web", Version: "1.0.0", Files: tc.files}
			if tc.schema != "" {
				b.Spec.ParametersSchema = &runtime.RawExtension{Raw: []byte(tc.schema)}
			}
			tc.want.Object, tc.want.Name, tc.want.Version, tc.want.Channel = "web-1.0.0", "web", "1.0.0", "stable"
			if diff := cmp.Diff(tc.want, ForBlueprint(b)); diff != "" {
				t.Errorf("\n%s\nForBlueprint(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
