/**
 * Headers with which each model provider accepts a credential. Tokens of a Claude plan are bearer tokens and
 * need a beta header; API keys are neither.
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
