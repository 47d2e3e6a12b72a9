package v1alpha1

// HasEngine reports whether a GitOps engine reads the directory of the Site. It is false for nil.
func (s *Site) HasEngine() bool {
	return s != nil && s.Spec.Engine.Type != "" && s.Spec.Engine.Type != EngineNone
}
