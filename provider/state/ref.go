package state

// Ref returns the custom ref that holds the state of a control plane.
func Ref(controlPlane string) string { return "refs/intentplane/" + controlPlane + "/state" }

// BranchRef returns the branch that holds the state of a control plane where a server takes no custom refs.
func BranchRef(controlPlane string) string { return "refs/heads/intentplane-state/" + controlPlane }
