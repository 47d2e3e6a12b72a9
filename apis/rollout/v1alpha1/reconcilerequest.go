package v1alpha1

// GetLastHandledReconcileAt returns the request to reconcile that was answered last.
func (o *Gate) GetLastHandledReconcileAt() string { return o.Status.LastHandledReconcileAt }

// SetLastHandledReconcileAt sets the last handled request to reconcile.
func (o *Gate) SetLastHandledReconcileAt(token string) { o.Status.LastHandledReconcileAt = token }
