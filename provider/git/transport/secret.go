package transport

// redacted stands where a credential was.
const redacted = "[redacted]"

// A Secret is text that is never shown.
type Secret string

// String never shows the secret.
func (Secret) String() string { return redacted }

// GoString never shows the secret.
func (Secret) GoString() string { return redacted }
