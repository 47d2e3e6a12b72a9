package disruption

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/scene"
)

// credentials is the name of the Secret that the scene's configuration of a repository names.
const credentials = "credentials"

// guardServer gives a scene its own server, which requires a password.
func guardServer(s *scene.Scene, password string) *gitserver.Server {
	s.T.Helper()
	s.Apply(s.BasicAuthSecret(password))
	return s.GuardRepository(password)
}

// awaitBlocked waits until the deletion of the scene's GitDelivery is blocked for a reason, with the remedy in the message.
func awaitBlocked(s *scene.Scene, want xpv2.ConditionReason) *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	return s.AwaitDelivery("blocked, with the way out: "+string(want), func(d *deliveryv1alpha1.GitDelivery) bool { return isDeletionBlocked(d, want) })
}

func isDeletionBlocked(d *deliveryv1alpha1.GitDelivery, want xpv2.ConditionReason) bool {
	c := d.Status.GetCondition(xpv2.TypeReady)
	return d.GetDeletionTimestamp() != nil && c.Reason == want && strings.Contains(c.Message, `spec.managementPolicies to ["Observe"]`)
}

// setObserveOnly ends a deletion as documented.
func setObserveOnly(s *scene.Scene, d *deliveryv1alpha1.GitDelivery) {
	s.T.Helper()
	s.Run("patch", "gitdelivery", d.GetName(), "-n", s.Namespace, "--type", "merge", "-p", `{"spec":{"managementPolicies":["Observe"]}}`)
}

func filesOfClaim(s *scene.Scene, srv *gitserver.Server) map[string]string {
	s.T.Helper()
	files, err := srv.Files(s.T.Context(), s.Namespace, "main")
	s.Must(err)
	return files
}

// directoryOf holds objects as files, in this order.
func directoryOf(t *testing.T, objects ...*unstructured.Unstructured) string {
	t.Helper()
	dir := t.TempDir()
	for i, o := range objects {
		b, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
