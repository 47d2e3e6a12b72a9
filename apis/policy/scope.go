package policy

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scopeOfKind reports whether a kind is namespaced, and whether it is a kind of Kubernetes' own. It compares group and kind, since the scope is the same in all
// versions. Every other kind is unknown, and may be cluster-scoped even if its objects have a namespace.
func scopeOfKind(gk schema.GroupKind) (namespaced, isKnown bool) {
	if slices.Contains(strings.Fields(namespacedKinds(gk.Group)), gk.Kind) {
		return true, true
	}
	return false, slices.Contains(strings.Fields(clusterKinds(gk.Group)), gk.Kind)
}

// IsBuiltIn reports whether a kind is one of Kubernetes' own.
func IsBuiltIn(gk schema.GroupKind) bool {
	_, isKnown := scopeOfKind(gk)
	return isKnown
}

func namespacedKinds(group string) string {
	return map[string]string{
		"": "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController " +
			"ResourceQuota Secret Service ServiceAccount",
		"apps":                      "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
		"authorization.k8s.io":      "LocalSubjectAccessReview",
		"autoscaling":               "HorizontalPodAutoscaler",
		"batch":                     "CronJob Job",
		"coordination.k8s.io":       "Lease LeaseCandidate",
		"discovery.k8s.io":          "EndpointSlice",
		"events.k8s.io":             "Event",
		"extensions":                "Ingress",
		"networking.k8s.io":         "Ingress NetworkPolicy",
		"policy":                    "PodDisruptionBudget",
		"rbac.authorization.k8s.io": "Role RoleBinding",
		"resource.k8s.io":           "ResourceClaim ResourceClaimTemplate",
		"storage.k8s.io":            "CSIStorageCapacity",
	}[group]
}

func clusterKinds(group string) string {
	return map[string]string{
		"": "ComponentStatus Namespace Node PersistentVolume",
		"admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration " +
			"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
		"apiextensions.k8s.io":         "CustomResourceDefinition",
		"apiregistration.k8s.io":       "APIService",
		"authentication.k8s.io":        "SelfSubjectReview TokenReview",
		"authorization.k8s.io":         "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
		"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle",
		"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
		"networking.k8s.io":            "IPAddress IngressClass ServiceCIDR",
		"node.k8s.io":                  "RuntimeClass",
		"policy":                       "PodSecurityPolicy",
		"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding",
		"resource.k8s.io":              "DeviceClass DeviceTaintRule ResourceSlice",
		"scheduling.k8s.io":            "PriorityClass",
		"storage.k8s.io":               "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
	}[group]
}
