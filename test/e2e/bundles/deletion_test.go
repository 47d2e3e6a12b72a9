package bundles

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDeletedInEveryState deletes Bundles of both shapes in each state, all at once. Their packages go, with their files, and their records.
func TestDeletedInEveryState(t *testing.T) {
	t.Parallel()
	for shape, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			s, all := newBundleStage(t), []*unstructured.Unstructured{}
			for name, reach := range preparedStates() {
				all = append(all, reach(s, apiVersion, name))
			}
			for _, o := range all {
				s.Delete(o)
			}
			for _, o := range all {
				s.awaitDeleted(o)
				s.awaitNoRecord(bundleRecordName(o))
				for _, name := range []string{o.GetName() + "-front", o.GetName() + "-base"} {
					if s.objectExists(name) || s.hasPackageFiles(name) {
						t.Errorf("package %s of a Bundle that was deleted is left behind", name)
					}
				}
			}
		})
	}
}

// TestDeletedWithoutRepository deletes Bundles of both shapes without their repository. The deletion reports the obstacle, and ends once the repository is
// restored, or once a user abandons the directories, as docs/operations/deleting.md documents.
func TestDeletedWithoutRepository(t *testing.T) {
	t.Parallel()
	goOn := map[string]func(s *stage, o *unstructured.Unstructured){
		"Back": func(s *stage, _ *unstructured.Unstructured) { s.Git.Fail(s.Namespace, 0) },
		"GivenUp": func(s *stage, o *unstructured.Unstructured) {
			s.giveUpDirectories("front")
			s.awaitBlocked(o, "base")
			s.giveUpDirectories("base")
		},
	}
	for shape, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		for ending, end := range goOn {
			t.Run(shape+"/"+ending, func(t *testing.T) {
				t.Parallel()
				s := newBundleStage(t)
				o := s.applyAndAwaitPhase(s.describeBundle(apiVersion, "platform", "1", s.describePackage("front", "1.0", 1, "base"), s.describePackage("base", "1.0", 1)), "Succeeded")
				s.Git.Fail(s.Namespace, http.StatusNotFound)
				s.Delete(o)
				s.awaitBlocked(o, "front")
				if !s.objectExists("base") {
					t.Error("The dependency of the remaining package was deleted.")
				}
				end(s, o)
				s.Gone(s.objectOfPackage("front"))
				s.awaitDeleted(o)
				s.awaitNoRecord(bundleRecordName(o))
				s.Git.Fail(s.Namespace, 0)
				for _, name := range []string{"front", "base"} {
					if s.objectExists(name) || s.hasPackageFiles(name) != (ending == "GivenUp") {
						t.Errorf("package %s of a Bundle that was deleted is there, or its files are not as they should be", name)
					}
				}
			})
		}
	}
}
