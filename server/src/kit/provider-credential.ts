/**
 * How each provider of models takes a credential. Tokens of a Claude plan are bearers, and are let in only with
 * the beta that is named for them; keys of the API are neither.
 */
export function credentialHeaders(
  provider: 'anthropic' | 'google' | 'openai',
  credential: string,
): Record<string, string> {
  switch (provider) {
    case 'anthropic':
      return credential.startsWith('sk-ant-oat')
        ? { authorization: `Bearer ${credential}`, 'anthropic-beta': 'oauth-2025-04-20' }
        : { 'x-api-key': credential }
    case 'google':
      return { 'x-goog-api-key': credential }
    case 'openai':
      return { authorization: `Bearer ${credential}` }
  }
}
