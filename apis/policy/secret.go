package policy

import (
	"maps"
	"regexp"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	sopsField   = "sops"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// encrypted is a value that SOPS encrypted.
var encrypted = regexp.MustCompile(`^ENC\[AES256_GCM,data:[A-Za-z0-9+/=]*,iv:[A-Za-z0-9+/=]+,tag:[A-Za-z0-9+/=]+,type:[a-z]+\]$`)

func isSecret(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Secret"}
}

// checkSecret accepts Secrets that SOPS encrypted, and other Secrets when the configuration allows them. Its error names the path of a readable value, never
// the value. SealedSecrets and ExternalSecrets are kinds of their own, and checked as any other.
func checkSecret(in Input, o *unstructured.Unstructured) error {
	if !isSecret(o) || allowsPlainSecrets(in) {
		return nil
	}
	if _, ok := o.Object[sopsField]; !ok {
		return errors.Errorf("Secret %q: no spec.policy.plainSecrets of a ClusterProviderConfig allows Secrets in Git, and SOPS did not encrypt it", o.GetName())
	}
	return errors.Wrapf(checkEncrypted(o), "Secret %q", o.GetName())
}

func checkEncrypted(o *unstructured.Unstructured) error {
	sops, _ := o.Object[sopsField].(map[string]any)
	if mac, _ := sops["mac"].(string); !encrypted.MatchString(mac) {
		return errors.New("sops.mac: is missing, so SOPS did not encrypt this")
	}
	if _, ok := o.GetAnnotations()[lastApplied]; ok {
		return errors.Errorf("metadata.annotations[%s]: may hold in plain text the values that other fields encrypt", lastApplied)
	}
	for _, field := range []string{"data", "stringData"} {
		if err := checkValuesEncrypted(field, o.Object[field]); err != nil {
			return err
		}
	}
	return nil
}

// checkValuesEncrypted: SOPS leaves the empty text as it is.
func checkValuesEncrypted(field string, v any) error {
	values, ok := v.(map[string]any)
	if v != nil && !ok {
		return errors.Errorf("%s: is not encrypted", field)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if text, ok := values[key].(string); !ok || text != "" && !encrypted.MatchString(text) {
			return errors.Errorf("%s.%s: is not encrypted", field, key)
		}
	}
	return nil
}
