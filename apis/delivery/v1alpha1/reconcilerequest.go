package v1alpha1

// GetLastHandledReconcileAt returns the request to reconcile that was answered last.
func (o *SiteSync) GetLastHandledReconcileAt() string { return o.Status.LastHandledReconcileAt }

// SetLastHandledReconcileAt says which request to reconcile was answered last.
func (o *SiteSync) SetLastHandledReconcileAt(token string) { o.Status.LastHandledReconcileAt = token }

// GetLastHandledReconcileAt returns the request to reconcile that was answered last.
func (o *SiteHealth) GetLastHandledReconcileAt() string { return o.Status.LastHandledReconcileAt }

// SetLastHandledReconcileAt says which request to reconcile was answered last.
func (o *SiteHealth) SetLastHandledReconcileAt(token string) { o.Status.LastHandledReconcileAt = token }
