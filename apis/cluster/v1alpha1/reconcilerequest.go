package v1alpha1

// GetLastHandledReconcileAt returns the request to reconcile that was answered last.
func (o *ManagedCluster) GetLastHandledReconcileAt() string { return o.Status.LastHandledReconcileAt }

// SetLastHandledReconcileAt says which request to reconcile was answered last.
func (o *ManagedCluster) SetLastHandledReconcileAt(token string) {
	o.Status.LastHandledReconcileAt = token
}
