package credentials

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

func TestReadReceiver(t *testing.T) {
	ownRef, shared := &configv1alpha1.SecretReference{Name: "creds"}, &configv1alpha1.SecretReference{Namespace: "team-a", Name: "creds"}
	bundle := func(r *configv1alpha1.SecretReference) *configv1alpha1.SecretKeyReference {
		return &configv1alpha1.SecretKeyReference{SecretReference: *r, Key: "ca.crt"}
	}
	all := map[string]string{"token": "t", "address": "https://a.example.org/x", "ca.crt": "PEM"}
	cases := map[string]struct {
		reason string
		kind   string
		data   map[string]string
		of     configv1alpha1.Notification
		want   Receiver
		err    string
	}{
		"None": {reason: "A receiver needs no Secret.", data: all},
		"All": {
			reason: "Key, address and certificates are read.",
			data:   all, of: configv1alpha1.Notification{SecretRef: ownRef, CABundleSecretRef: bundle(ownRef)},
			want: Receiver{Key: "t", Address: "https://a.example.org/x", CABundle: []byte("PEM")},
		},
		"KeyAlone": {
			reason: "A Secret may have a key alone.",
			data:   map[string]string{"token": "t"}, of: configv1alpha1.Notification{SecretRef: ownRef}, want: Receiver{Key: "t"},
		},
		"Cluster": {
			reason: "A ClusterProviderConfig names the namespace.",
			kind:   policy.KindClusterProviderConfig, data: all, of: configv1alpha1.Notification{SecretRef: shared},
			want: Receiver{Key: "t", Address: "https://a.example.org/x"},
		},
		"Nowhere": {
			reason: "A ClusterProviderConfig without the namespace is refused.",
			kind:   policy.KindClusterProviderConfig, data: all, of: configv1alpha1.Notification{SecretRef: ownRef},
			err: "spec.notifications.secretRef.namespace: is required in a ClusterProviderConfig",
		},
		"Elsewhere": {
			reason: "A ProviderConfig reads no certificates of another namespace.",
			data:   all,
			of:     configv1alpha1.Notification{CABundleSecretRef: bundle(&configv1alpha1.SecretReference{Namespace: "team-b", Name: "creds"})},
			err:    "spec.notifications.caBundleSecretRef.namespace: a ProviderConfig reads Secrets of its own namespace only",
		},
		"Empty": {
			reason: "A Secret from which nothing is read is named.",
			data:   map[string]string{"password": "p"}, of: configv1alpha1.Notification{SecretRef: ownRef},
			err: "spec.notifications.secretRef: Secret team-a/creds has no key token or address",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := Config{Kind: tc.kind}
			if tc.kind != policy.KindClusterProviderConfig {
				c = Config{Kind: policy.KindProviderConfig, Namespace: "team-a"}
			}
			got, err := ReadReceiver(t.Context(), secretsIn("team-a", tc.data), c, &tc.of)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || text != tc.err {
				t.Errorf("\n%s\nReadReceiver(...): want error %q, got %q; -want, +got:\n%s", tc.reason, tc.err, text, diff)
			}
			if printed := fmt.Sprintf("%+v", got); strings.Contains(printed, "example.org") {
				t.Errorf("\n%s\nReadReceiver(...): its result shows an address: %s", tc.reason, printed)
			}
		})
	}
}
