package v1alpha1

// GetLastHandledReconcileAt returns the request to reconcile that was answered last.
func (o *ManagedCluster) GetLastHandledReconcileAt() string { return o.Status.LastHandledReconcileAt }

// SetLastHandledReconcileAt sets the last handled request to reconcile.
func (o *ManagedCluster) SetLastHandledReconcileAt(token string) {
	o.Status.LastHandledReconcileAt = token
}
