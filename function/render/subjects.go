package render

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/filters/namespace"
	"sigs.k8s.io/kustomize/api/resmap"
)

// setSubjectNamespaces gives the claim's namespace to ServiceAccounts in RoleBindings and ClusterRoleBindings that name none, as a kustomization with a
// namespace and setRoleBindingSubjects: allServiceAccounts does: the API server refuses them without one. It comes after kustomize, which gives subjects
// that are among the Blueprint's own ServiceAccounts the namespaces of these.
func setSubjectNamespaces(objects resmap.ResMap, claimNamespace string) error {
	filter := namespace.Filter{Namespace: claimNamespace, UnsetOnly: true, SetRoleBindingSubjects: namespace.AllServiceAccountSubjects}
	for _, o := range objects.Resources() {
		if o.GetGvk().Group != "rbac.authorization.k8s.io" {
			continue
		}
		if err := o.ApplyFilter(filter); err != nil {
			return errors.Wrapf(err, "%s: subjects", describeObject(o))
		}
	}
	return nil
}
