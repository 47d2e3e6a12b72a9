package diagnosis

// servedLines name the kinds that an installation needs and that the cluster does not serve. Versions alone do not suffice: a mirror renames the image of an old
// Crossplane, and an API server can have the API of policies switched off. A kind that was not read says nothing.
func servedLines(e *Expected, f *Facts) []Line {
	var out []Line
	if f.Kinds.IsAbsent && !f.Configurations.IsAbsent {
		out = append(out, Line{
			Check: checkVersions, Object: "Crossplane", Result: Problem,
			Message: "Crossplane is older than version 2: it does not serve managedresourcedefinitions.apiextensions.crossplane.io.",
			Fix:     "Upgrade Crossplane: the packages of Intentplane demand " + e.Crossplane + ".",
		})
	}
	if f.Policies.IsAbsent {
		out = append(out, Line{
			Check: checkPolicies, Object: "Kubernetes", Result: Problem,
			Message: "The API server does not serve validatingadmissionpolicies.admissionregistration.k8s.io/v1.",
			Fix:     "Upgrade Kubernetes to 1.30, or switch the API on: without it the files of examples/policies cannot be applied, and RBAC alone does not guard approvals.",
		})
	}
	return out
}
