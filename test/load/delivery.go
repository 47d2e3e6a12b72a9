package load

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// newDelivery returns the delivery of a revision of one web service to the Site of a place, as the function would compose it.
func newDelivery(key types.NamespacedName, revision int64) (*deliveryv1alpha1.GitDelivery, error) {
	files := webServiceFiles(key, revision)
	encoded, err := tree.Encode(files)
	if err != nil {
		return nil, err
	}
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: policy.KindProviderConfig, Name: Config}
	d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{
		ClaimRef: claimReference(key),
		Copy:     Copy(revision),
		Position: new(Position(revision)),
		Trees: []deliveryv1alpha1.Tree{{
			Site: key.Namespace, Branch: Branch, Path: deliveryPath(key), Action: deliveryv1alpha1.ActionDesired, Tree: tree.ID(files), Files: encoded,
		}},
	}
	return d, nil
}

func deliveryPath(key types.NamespacedName) string {
	return policy.Directory("", siteDirectory(key.Namespace), key.Namespace, key.Name)
}

func claimReference(key types.NamespacedName) rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: key.Namespace, Name: key.Name}
}

// Position returns the position of a revision that has one step.
func Position(revision int64) ledger.Position { return Copy(revision).Position() }

// Copy returns the recorded state of a ledger whose home is another repository once it has come to a revision of one step. A delivery with
// such a copy needs no home: its repository is brought to the position of the copy.
func Copy(revision int64) *ledger.State {
	digest := fmt.Sprintf("sha256:%d", revision)
	return &ledger.State{
		Head: ledger.Head{Ledger: "by-hand", Epoch: 1, Seq: revision + 1, ID: fmt.Sprint(revision)}, Home: "elsewhere", LastNumber: revision,
		Current: &ledger.Revision{Number: revision, Request: ledger.Request{Intent: digest, Sources: digest, Scheme: 1, Renderer: 1}, Plan: []ledger.Step{{}}},
	}
}

// webServiceFiles returns a web service, of the size that such things have.
func webServiceFiles(key types.NamespacedName, revision int64) tree.Files {
	out := tree.Files{"kustomization.yaml": []byte("resources: [config.yaml, deployment.yaml, service.yaml, serviceaccount.yaml]\n")}
	for name, content := range map[string]string{"deployment.yaml": deployment, "service.yaml": service, "serviceaccount.yaml": serviceAccount} {
		out[name] = fmt.Appendf(nil, content, key.Name, key.Namespace)
	}
	out["config.yaml"] = fmt.Appendf(nil, configMap, key.Name, key.Namespace, revision)
	return out
}

const (
	configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: %[1]s
  namespace: %[2]s
data:
  address: https://%[1]s.%[2]s.example.org
  log.level: info
  revision: "%[3]d"
  features: |
    search: true
    recommendations: false
`

	service = `apiVersion: v1
kind: Service
metadata:
  name: %[1]s
  namespace: %[2]s
  labels: {app.kubernetes.io/name: %[1]s}
spec:
  selector: {app.kubernetes.io/name: %[1]s}
  ports:
  - {name: http, port: 80, targetPort: http}
`

	serviceAccount = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: %[1]s
  namespace: %[2]s
automountServiceAccountToken: false
`

	deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
  namespace: %[2]s
  labels: {app.kubernetes.io/name: %[1]s}
spec:
  replicas: 2
  selector:
    matchLabels: {app.kubernetes.io/name: %[1]s}
  template:
    metadata:
      labels: {app.kubernetes.io/name: %[1]s}
    spec:
      serviceAccountName: %[1]s
      containers:
      - name: web
        image: registry.example.org/%[2]s/%[1]s:1.4.2
        envFrom:
        - configMapRef: {name: %[1]s}
        ports:
        - {name: http, containerPort: 8080}
        readinessProbe:
          httpGet: {path: /ready, port: http}
        resources:
          requests: {cpu: 100m, memory: 128Mi}
          limits: {memory: 256Mi}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          runAsNonRoot: true
          capabilities: {drop: [ALL]}
          seccompProfile: {type: RuntimeDefault}
`
)
