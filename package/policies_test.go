package packages

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/composition"
	"github.com/intentplane/intentplane/package/provider"
)

// A guardedField is a field by which a user could pass an approval, in the spec of a kind that users write.
type guardedField struct {
	resource schema.GroupResource
	path     []string
}

func (f guardedField) String() string {
	return f.resource.String() + ": spec." + strings.Join(f.path, ".")
}

// isGuarded reports whether a field decides what a deployment has to pass, or what stays of it.
func isGuarded(name string) bool {
	return slices.Contains([]string{"gatesConfig", "blueprint", "waves", "canary", "adopt", "deletionPolicy", "updates"}, name) || strings.HasPrefix(name, "approv")
}

// item stands for an item of a list in the path of a field.
const item = "[]"

// guardedFields returns the guarded fields of all kinds that examples/rbac/people.yaml lets people write. In a package of a Bundle, and only
// there, the schema leaves a spec open: it has the fields of its kind.
func guardedFields(t *testing.T) []guardedField {
	t.Helper()
	out := []guardedField{}
	writable := writableResources(t)
	for resource, spec := range specsOfKinds(t) {
		// Who may write a RolloutRequest may approve.
		if len(writable[resource]) == 0 || resource.Resource == "rolloutrequests" {
			continue
		}
		for _, p := range guardedPaths(spec, nil) {
			out = append(out, guardedField{resource, p})
		}
	}
	for _, f := range slices.Clone(out) {
		inner := map[string]string{"intentdeployments": "deployment", "applications": "application"}[f.resource.Resource]
		if inner != "" {
			out = append(out, guardedField{schema.GroupResource{Group: f.resource.Group, Resource: "bundles"}, append([]string{"packages", item, inner}, f.path...)})
		}
	}
	return out
}

// guardedPaths returns the paths of the guarded fields of a schema. Of a guarded field the fields are not searched.
func guardedPaths(s map[string]any, parent []string) [][]string {
	out := [][]string{}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := append(slices.Clone(parent), name)
		if isGuarded(name) && !slices.Equal(p, []string{"packages", item, "adopt"}) {
			out = append(out, p)
			continue
		}
		property, _ := properties[name].(map[string]any)
		out = append(out, guardedPaths(property, p)...)
		if items, ok := property["items"].(map[string]any); ok {
			out = append(out, guardedPaths(items, append(p, item))...)
		}
	}
	return out
}

// specsOfKinds returns the schemas of the specs of all kinds that the project defines.
func specsOfKinds(t *testing.T) map[schema.GroupResource]map[string]any {
	t.Helper()
	out := map[schema.GroupResource]map[string]any{}
	for _, files := range []fs.FS{provider.CRDs(), composition.Definitions()} {
		must(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".yaml" {
				return err
			}
			b, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			return addSpecs(out, b)
		}))
	}
	return out
}

// addSpecs adds the spec of a definition, by the resource of the kind and of its claim.
func addSpecs(out map[schema.GroupResource]map[string]any, definition []byte) error {
	d := map[string]any{}
	if err := yaml.Unmarshal(definition, &d); err != nil {
		return err
	}
	group, _, _ := unstructured.NestedString(d, "spec", "group")
	versions, _, _ := unstructured.NestedSlice(d, "spec", "versions")
	version, _ := versions[0].(map[string]any)
	spec, _, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", "spec")
	for _, names := range []string{"names", "claimNames"} {
		if plural, ok, _ := unstructured.NestedString(d, "spec", names, "plural"); ok {
			out[schema.GroupResource{Group: group, Resource: plural}] = spec
		}
	}
	return err
}

// writableResources returns the resources that the roles for people let them write, with the verbs.
func writableResources(t *testing.T) map[schema.GroupResource][]string {
	t.Helper()
	out := map[schema.GroupResource][]string{}
	for _, document := range documents(t, "../examples/rbac/people.yaml") {
		role := &rbacv1.ClusterRole{}
		must(t, yaml.Unmarshal(document, role))
		for _, rule := range role.Rules {
			verbs := slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" })
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					r := schema.GroupResource{Group: group, Resource: resource}
					out[r] = append(out[r], verbs...)
				}
			}
		}
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	out := [][]byte{}
	for document := range strings.SplitSeq("\n"+string(b), "\n---\n") {
		out = append(out, []byte(document))
	}
	return out
}

// withField returns an object whose spec has a value in a field.
func (f guardedField) withField(value any) map[string]any {
	for _, name := range slices.Backward(f.path) {
		if name == item {
			element, _ := value.(map[string]any)
			element["name"] = "shop"
			value = []any{element}
			continue
		}
		value = map[string]any{name: value}
	}
	return map[string]any{"metadata": map[string]any{"name": "shop"}, "spec": value}
}

// unapproved are values of guarded fields that pass an approval, and the values that they replace.
func (f guardedField) unapproved() (value, old any) {
	switch name := f.path[len(f.path)-1]; {
	case name == "adopt":
		return true, false
	case name == "deletionPolicy":
		return "Orphan", "RemoveFromGit"
	case name == "waves":
		return []any{}, []any{map[string]any{"name": "first"}}
	case strings.HasPrefix(name, "approv"), name == "updates":
		return "somebody else", "nobody"
	}
	return map[string]any{}, map[string]any{"enabled": true}
}

// TestPoliciesGuardEachKind lets a user who may not approve pass no approval by any field of any kind that people write, with any verb.
func TestPoliciesGuardEachKind(t *testing.T) {
	policies, fields, writable := readPolicies(t), guardedFields(t), writableResources(t)
	if len(fields) < 50 {
		t.Errorf("%d guarded fields: the search misses some", len(fields))
	}
	for _, f := range fields {
		t.Run(f.String(), func(t *testing.T) {
			value, old := f.unapproved()
			requests := []request{{resource: f.resource, operation: admission.Update, object: f.withField(value), oldObject: f.withField(old)}}
			switch name := f.path[len(f.path)-1]; {
			case !slices.Contains(writable[f.resource], "create"):
			case name == "adopt":
				requests = append(requests, request{resource: f.resource, operation: admission.Create, object: f.withField(value)})
			case name == "approvedBy":
				// The object never changes once it is there.
				requests = []request{{resource: f.resource, operation: admission.Create, object: f.withField(value), mayApprove: true}}
			case name == "deletionPolicy":
				requests = append(requests,
					request{resource: f.resource, operation: admission.Create, object: f.withField(value)},
					request{resource: f.resource, operation: admission.Delete, oldObject: f.withField(value), options: &metav1.DeleteOptions{}})
			}
			for _, r := range requests {
				if got := refusals(t, policies, r); len(got) == 0 {
					t.Errorf("%s of %s is refused by no policy of examples/policies", r.operation, f)
				}
			}
		})
	}
}

// TestPolicies judges requests that are about more than one field, and those that go on.
func TestPolicies(t *testing.T) {
	bundles := schema.GroupResource{Group: "intentplane.dev", Resource: "bundles"}
	deployments := schema.GroupResource{Group: "claims.intentplane.dev", Resource: "intentdeployments"}
	orphan := metav1.DeletePropagationOrphan
	foreground := metav1.DeletePropagationForeground
	cases := map[string]struct {
		reason  string
		request request
		object  string
		old     string
		want    string
	}{
		"Edit": {
			reason: "An editor changes the intent.", request: request{resource: deployments, operation: admission.Update},
			object: `{"spec": {"intent": "b", "gatesConfig": {"enabled": true}}}`, old: `{"spec": {"intent": "a", "gatesConfig": {"enabled": true}}}`,
		},
		"Create": {
			reason:  "An editor makes a deployment.",
			request: request{resource: deployments, operation: admission.Create},
			object:  `{"spec": {"intent": "a", "deliveryConfig": {"deletionPolicy": "RemoveFromGit", "adopt": false}}}`,
		},
		"Keep": {
			reason: "A value that who may approve has set stays.", request: request{resource: deployments, operation: admission.Update},
			object: `{"spec": {"intent": "b", "deliveryConfig": {"deletionPolicy": "Orphan", "adopt": true}}}`,
			old:    `{"spec": {"intent": "a", "deliveryConfig": {"deletionPolicy": "Orphan", "adopt": true}}}`,
		},
		"Approver": {
			reason: "A user who may approve changes the gates.", request: request{resource: deployments, operation: admission.Update, mayApprove: true},
			object: `{"spec": {}}`, old: `{"spec": {"gatesConfig": {"enabled": true}}}`,
		},
		"BuiltImage": {
			reason: "An editor puts no other image in the place of a built image.", request: request{resource: deployments, operation: admission.Update},
			object: `{"metadata": {"annotations": {"build.intentplane.dev/request": "r"}}, "spec": {"expectation": {"image": "b"}}}`,
			old:    `{"metadata": {"annotations": {"build.intentplane.dev/request": "r"}}, "spec": {"expectation": {"image": "a"}}}`,
			want:   "spec.expectation.image",
		},
		"BuiltEdit": {
			reason: "An editor changes other fields of the deployment of a built image.", request: request{resource: deployments, operation: admission.Update},
			object: `{"metadata": {"annotations": {"build.intentplane.dev/request": "r", "a": "b"}}, "spec": {"intent": "b", "expectation": {"image": "a"}}}`,
			old:    `{"metadata": {"annotations": {"build.intentplane.dev/request": "r"}}, "spec": {"intent": "a", "expectation": {"image": "a"}}}`,
		},
		"BuildOfImage": {
			reason: "An editor does not attribute an image to a build.", request: request{resource: deployments, operation: admission.Update},
			object: `{"metadata": {"annotations": {"build.intentplane.dev/commit": "c"}}, "spec": {}}`, old: `{"spec": {}}`, want: "metadata.annotations",
		},
		"BuildRemoved": {
			reason: "An editor does not remove the build of an image, and the image with the next edit.", request: request{resource: deployments, operation: admission.Update},
			object: `{"spec": {}}`, old: `{"metadata": {"annotations": {"build.intentplane.dev/request": "r"}}, "spec": {}}`, want: "metadata.annotations",
		},
		"BuildOfNew": {
			reason: "An editor makes no deployment in the name of a build.", request: request{resource: deployments, operation: admission.Create},
			object: `{"metadata": {"annotations": {"build.intentplane.dev/build": "b"}}, "spec": {}}`, want: "metadata.annotations",
		},
		"PlainImage": {
			reason: "An editor changes the image of a deployment that no build made.", request: request{resource: deployments, operation: admission.Update},
			object: `{"spec": {"expectation": {"image": "b"}}}`, old: `{"spec": {"expectation": {"image": "a"}}}`,
		},
		"Delete": {
			reason:  "An editor deletes a deployment with its files.",
			request: request{resource: deployments, operation: admission.Delete, options: &metav1.DeleteOptions{PropagationPolicy: &foreground}},
			old:     `{"spec": {}}`,
		},
		"Cascade": {
			reason:  "An editor deletes no deployment without what it made.",
			request: request{resource: deployments, operation: admission.Delete, options: &metav1.DeleteOptions{PropagationPolicy: &orphan}},
			old:     `{"spec": {}}`, want: "cascade=orphan",
		},
		"CascadeLegacy": {
			reason:  "An old client orphans no dependents either.",
			request: request{resource: deployments, operation: admission.Delete, options: &metav1.DeleteOptions{OrphanDependents: new(true)}},
			old:     `{"spec": {}}`, want: "cascade=orphan",
		},
		"OrphanFinalizer": {
			reason:  "An editor who added the finalizer of --cascade=orphan deletes the deployment no more than with that option.",
			request: request{resource: deployments, operation: admission.Delete, options: &metav1.DeleteOptions{}},
			old:     `{"metadata": {"finalizers": ["finalizer.apiextensions.crossplane.io", "orphan"]}, "spec": {}}`, want: "finalizer orphan",
		},
		"OrphanFinalizerApprover": {
			reason:  "A user who may approve deletes a deployment that has the finalizer of --cascade=orphan.",
			request: request{resource: deployments, operation: admission.Delete, options: &metav1.DeleteOptions{}, mayApprove: true},
			old:     `{"metadata": {"finalizers": ["orphan"]}, "spec": {}}`,
		},
		"OtherFinalizer": {
			reason:  "An editor deletes a deployment that has the finalizers of its controllers.",
			request: request{resource: deployments, operation: admission.Delete, options: &metav1.DeleteOptions{}},
			old:     `{"metadata": {"finalizers": ["finalizer.apiextensions.crossplane.io"]}, "spec": {}}`,
		},
		"BundleEdit": {
			reason: "An editor changes the intent of a package, and adds one.", request: request{resource: bundles, operation: admission.Update},
			object: `{"spec": {"packages": [{"name": "a", "deployment": {"intent": "b"}}, {"name": "b", "existing": {}}]}}`,
			old:    `{"spec": {"packages": [{"name": "a", "deployment": {"intent": "a"}}]}}`,
		},
		"BundleLeave": {
			reason:  "A package leaves no Bundle without an approval: it could come back without its gates.",
			request: request{resource: bundles, operation: admission.Update},
			object:  `{"spec": {"packages": []}}`, old: `{"spec": {"packages": [{"name": "a", "deployment": {"intent": "a"}}]}}`, want: "which packages leave a Bundle",
		},
		"BundleKind": {
			reason: "A package of another kind is another package.", request: request{resource: bundles, operation: admission.Update},
			object: `{"spec": {"packages": [{"name": "a", "application": {}}]}}`,
			old:    `{"spec": {"packages": [{"name": "a", "deployment": {"intent": "a"}}]}}`, want: "which packages leave a Bundle",
		},
		"BundleExisting": {
			reason: "A package that another user deploys leaves freely.", request: request{resource: bundles, operation: admission.Update},
			object: `{"spec": {"packages": []}}`, old: `{"spec": {"packages": [{"name": "a", "existing": {}}]}}`,
		},
		"BundleDisable": {
			reason: "An editor disables a package whose files go with it.", request: request{resource: bundles, operation: admission.Update},
			object: `{"spec": {"packages": [{"name": "a", "enabled": false, "deployment": {}}]}}`, old: `{"spec": {"packages": [{"name": "a", "deployment": {}}]}}`,
		},
		"BundleDisableOrphan": {
			reason:  "An editor disables no package whose files stay.",
			request: request{resource: bundles, operation: admission.Update}, want: "is removed while its files stay",
			object: `{"spec": {"packages": [{"name": "a", "enabled": false, "deployment": {"deliveryConfig": {"deletionPolicy": "Orphan"}}}]}}`,
			old:    `{"spec": {"packages": [{"name": "a", "deployment": {"deliveryConfig": {"deletionPolicy": "Orphan"}}}]}}`,
		},
		"BundleReplaceOrphan": {
			reason:  "The provider may still have the earlier policy when the package is disabled.",
			request: request{resource: bundles, operation: admission.Update}, want: "is removed while its files stay",
			object: `{"spec": {"packages": [{"name": "a", "application": {"deploy": {}}}]}}`,
			old:    `{"spec": {"packages": [{"name": "a", "application": {"deploy": {"deliveryConfig": {"deletionPolicy": "Orphan"}}}}]}}`,
		},
		"BundleEditOrphan": {
			reason: "An editor changes the intent of a package whose files stay, and enables it.", request: request{resource: bundles, operation: admission.Update},
			object: `{"spec": {"packages": [{"name": "a", "deployment": {"intent": "b", "deliveryConfig": {"deletionPolicy": "Orphan"}}}]}}`,
			old:    `{"spec": {"packages": [{"name": "a", "enabled": false, "deployment": {"intent": "a", "deliveryConfig": {"deletionPolicy": "Orphan"}}}]}}`,
		},
		"BundleDelete": {
			reason: "An editor deletes no Bundle with a package whose files stay.", want: "spec.packages: deletionPolicy",
			request: request{resource: bundles, operation: admission.Delete, options: &metav1.DeleteOptions{PropagationPolicy: &foreground}},
			old:     `{"spec": {"packages": [{"name": "a", "deployment": {"deliveryConfig": {"deletionPolicy": "Orphan"}}}]}}`,
		},
		"BundleCreate": {
			reason:  "An editor makes a Bundle.",
			request: request{resource: bundles, operation: admission.Create},
			object:  `{"spec": {"packages": [{"name": "a", "deployment": {"intent": "a"}}]}}`,
		},
		"Approval": {
			reason: "A PruneApproval names the user who makes it.",
			request: request{
				resource: schema.GroupResource{Group: "state.intentplane.dev", Resource: "pruneapprovals"}, operation: admission.Create,
			},
			object: `{"spec": {"approvedBy": "eve"}}`,
		},
		"NoApprover": {
			reason: "A PruneApproval names a user.",
			request: request{
				resource: schema.GroupResource{Group: "state.intentplane.dev", Resource: "pruneapprovals"}, operation: admission.Create,
			},
			object: `{"spec": {}}`, want: "spec.approvedBy: must be",
		},
	}
	policies := readPolicies(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.request.object, tc.request.oldObject = objectOf(t, tc.object), objectOf(t, tc.old)
			got := strings.Join(refusals(t, policies, tc.request), "\n")
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func objectOf(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	out := map[string]any{}
	must(t, json.Unmarshal([]byte(text), &out))
	return out
}
