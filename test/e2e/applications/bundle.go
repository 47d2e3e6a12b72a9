package applications

import (
	"fmt"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/scene"
)

// describeBundle describes a Bundle with the Application of an image, and a deployment behind it at another Site.
func (s *stage) describeBundle(image int) *unstructured.Unstructured {
	spec, _ := s.app.DeepCopy().Object["spec"].(map[string]any)
	spec["image"] = imageByNumber(image)
	dependent := s.Composite("x", fmt.Sprintf(`{"service": "after", "type": "web", "sites": [%q], "replicas": 1}`, s.Site("edge2")))
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": fmt.Sprint(image), "packages": []any{
		map[string]any{"name": "shop", "application": spec},
		map[string]any{"name": "after", "dependsOn": []any{"shop"}, "deployment": dependent.Object["spec"]},
	}}}}
	o.SetAPIVersion(claims)
	o.SetKind("Bundle")
	o.SetNamespace(s.Namespace)
	o.SetName("platform")
	return o
}

// dependentPackage describes the object of the second package.
func dependentPackage(s *stage) *unstructured.Unstructured {
	o := s.Composite("after", "{}")
	o.SetAPIVersion(namespaced)
	return o
}

func (s *stage) objectExists(o *unstructured.Unstructured) bool {
	s.T.Helper()
	err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(o), o.DeepCopy())
	if err != nil && !kerrors.IsNotFound(err) {
		s.T.Fatal(err)
	}
	return err == nil
}

func (s *stage) awaitBundle(o *unstructured.Unstructured, phase, version string) {
	s.T.Helper()
	s.Await(o, phase+" in version "+version, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == phase && scene.Field(u, "status", "version") == version
	})
}

// awaitPackage waits until the status of a Bundle says something of a package.
func (s *stage) awaitPackage(o *unstructured.Unstructured, name, want string) {
	s.T.Helper()
	s.Await(o, name+" "+want, func(u *unstructured.Unstructured) bool {
		all, _, _ := unstructured.NestedSlice(u.Object, "status", "packages")
		for _, p := range all {
			if p, ok := p.(map[string]any); ok && p["name"] == name {
				return fmt.Sprintf("%v %v", p["status"], p["reason"]) == want
			}
		}
		return false
	})
}
