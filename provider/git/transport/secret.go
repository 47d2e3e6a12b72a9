package transport

import "github.com/intentplane/intentplane/provider/redaction"

// redacted stands in the place of a credential.
const redacted = redaction.Mark

// A Secret is text that is never shown.
type Secret string

// String never shows the secret.
func (Secret) String() string { return redacted }

// GoString never shows the secret.
func (Secret) GoString() string { return redacted }
