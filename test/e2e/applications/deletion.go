package applications

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wantNothingLeft deletes the namespace of the Application, and waits until it is gone. It fails the test if a file of the Application stays in the repository.
func (s *stage) wantNothingLeft(reason string) {
	s.T.Helper()
	s.requireNoError(s.Client.Delete(s.T.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(s.Namespace)
	s.Gone(namespace)
	s.wantNoFiles(reason)
}

// wantNoFiles fails the test if a file of the Application is in the repository.
func (s *stage) wantNoFiles(reason string) {
	s.T.Helper()
	for file := range s.FilesBelow("clusters/edge1") {
		if strings.HasPrefix(file, s.Namespace+"/shop/") && !strings.HasSuffix(file, "/placeholder") {
			s.T.Errorf("\n%s\n%s is still in the repository", reason, file)
		}
	}
}
