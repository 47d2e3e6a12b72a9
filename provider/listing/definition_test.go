package listing

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestCheckServed(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	definition := func(name string, established apiextensionsv1.ConditionStatus) *apiextensionsv1.CustomResourceDefinition {
		d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
		d.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: established}}
		return d
	}
	kind := schema.GroupVersionKind{Group: "build.intentplane.dev", Version: "v1alpha1", Kind: "ImageBuild"}
	const name = "imagebuilds.build.intentplane.dev"
	deleted := definition(name, apiextensionsv1.ConditionTrue)
	deleted.DeletionTimestamp, deleted.Finalizers = new(metav1.Unix(2000000000, 0)), []string{"customresourcecleanup.apiextensions.k8s.io"}
	cases := map[string]struct {
		reason     string
		definition *apiextensionsv1.CustomResourceDefinition
		want       bool
	}{
		"Established": {reason: "An established kind is served.", definition: definition(name, apiextensionsv1.ConditionTrue), want: true},
		"Other":       {reason: "Without a definition the kind is not served.", definition: definition("images.kpack.io", apiextensionsv1.ConditionTrue)},
		"Waiting":     {reason: "A definition that is not established yet serves no objects.", definition: definition(name, apiextensionsv1.ConditionFalse)},
		"Deleted":     {reason: "A definition that is being deleted takes no new records.", definition: deleted},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := kubefake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.definition).Build()
			if err := CheckServed(t.Context(), kube, kind); (err == nil) != tc.want {
				t.Errorf("\n%s\nCheckServed(...): %v", tc.reason, err)
			}
		})
	}
}
