package v1alpha1

// GetLastHandledReconcileAt returns the last handled request to reconcile.
func (o *ImageBuild) GetLastHandledReconcileAt() string { return o.Status.LastHandledReconcileAt }

// SetLastHandledReconcileAt sets the last handled request to reconcile. Without it a request that ends with an error has no answer in the status.
func (o *ImageBuild) SetLastHandledReconcileAt(token string) { o.Status.LastHandledReconcileAt = token }
