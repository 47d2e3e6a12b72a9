package readiness

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// SecretType is the type of the Secrets that Cluster API's contracts ask for.
	SecretType = Group + "/secret"

	// SecretKey of the kubeconfig.
	SecretKey = "value"
)

// SecretName is where the kubeconfig of a cluster is.
func SecretName(cluster string) string { return cluster + "-kubeconfig" }

// An Answer is the reply of an API server to a probe.
type Answer struct {
	// Asked is true if it was.
	Asked bool
	// Version of Kubernetes.
	Version string
	// Reason why it is not ready, one of this package. Empty if it is.
	Reason string
}

// A Kubeconfig is the reading of a kubeconfig Secret.
type Kubeconfig struct {
	// Missing is the reason why the Secret is missing. Empty if it exists.
	Missing string
	// Secret is the name of the requested Secret.
	Secret string
	// Type and Cluster of the Secret, the latter from its label.
	Type, Cluster string
	// Data of the key. Without it, Digest stands for it.
	Data   []byte
	Digest string
	// Program is true for a kubeconfig that runs a program to get its credentials.
	Program bool
	// Refused is why the kubeconfig is refused. It repeats nothing of it.
	Refused string
	// NotAfter is when its credentials expire. Zero if they do not, or if that is unknown.
	NotAfter time.Time
	// Answer of the API server.
	Answer Answer
}

// KubeconfigFrom returns the reading of a Secret. It does not parse the kubeconfig.
func KubeconfigFrom(name, secretType string, labels map[string]string, data map[string][]byte) Kubeconfig {
	return Kubeconfig{Secret: name, Type: secretType, Cluster: labels[labelCluster], Data: data[SecretKey]}
}

// Expires is when the first of a client certificate and a token does. A token without an expiry counts as unlimited.
func Expires(certificate []byte, token string) time.Time {
	var out time.Time
	if block, _ := pem.Decode(certificate); block != nil {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			out = c.NotAfter
		}
	}
	claims := jwt.RegisteredClaims{}
	// Whether it is genuine is for the API server to say.
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil || claims.ExpiresAt == nil {
		return out.UTC()
	}
	if out.IsZero() || claims.ExpiresAt.Before(out) {
		out = claims.ExpiresAt.Time
	}
	return out.UTC()
}

// WithoutData returns the kubeconfig without credentials, for caches: it yields the same conditions.
func (k Kubeconfig) WithoutData() Kubeconfig {
	k.Data, k.Digest = nil, k.secretDigest()
	return k
}

func (k Kubeconfig) secretDigest() string {
	if len(k.Data) == 0 {
		return k.Digest
	}
	sum := sha256.Sum256(k.Data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (k Kubeconfig) expirationTime() time.Time { return k.NotAfter }

func (k Kubeconfig) conditionWith(s Status, reason, message string) Condition {
	return Condition{Type: TypeKubeconfigReady, Status: s, Reason: reason, Message: message, By: Subject{Kind: "Secret", Name: k.Secret}}
}

func kubeconfigReady(in Input) Condition {
	k := in.Kubeconfig
	switch {
	case k.Missing == ReasonObjectMissing:
		return k.conditionWith(False, ReasonKubeconfigMissing, "it does not exist")
	case k.Missing != "":
		return Lacks(Subject{Kind: "Secret", Name: k.Secret}, k.Missing).unreadCondition(TypeKubeconfigReady)
	case k.Type != SecretType:
		return k.conditionWith(False, ReasonKubeconfigInvalid, "its type is not "+SecretType)
	case k.Cluster != in.Cluster.GetName():
		return k.conditionWith(False, ReasonKubeconfigInvalid, "its label "+labelCluster+" does not name the Cluster")
	case k.secretDigest() == "":
		return k.conditionWith(False, ReasonKubeconfigEmpty, "its key "+SecretKey+" is missing or empty")
	case k.Program && in.Options.AllowExec:
		return k.conditionWith(True, ReasonKubeconfigNotAsked, "the kubeconfig runs a program, which is not run here: it is unknown whether the API server answers")
	case k.Refused != "":
		return k.conditionWith(False, ReasonKubeconfigRefused, k.Refused)
	case !k.NotAfter.IsZero() && !in.Now.Before(k.NotAfter):
		return k.conditionWith(False, ReasonKubeconfigExpired, "its credentials have expired")
	}
	return k.answeredCondition()
}

func (k Kubeconfig) answeredCondition() Condition {
	says := map[string]string{
		ReasonServerUnreachable: "the API server does not answer",
		ReasonServerNotReady:    "the API server answers that it is not ready",
		ReasonKubeconfigDenied:  "the API server does not accept the credentials",
		ReasonKubeconfigRefused: "the kubeconfig leads to an address that may not be reached",
	}
	switch {
	case !k.Answer.Asked:
		return k.conditionWith(Unknown, ReasonServerUnreachable, "the API server was not asked yet")
	case k.Answer.Reason != "":
		return k.conditionWith(False, k.Answer.Reason, says[k.Answer.Reason])
	}
	return k.conditionWith(True, ReasonAnswers, "")
}
