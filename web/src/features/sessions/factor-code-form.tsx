import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CodeForm, type CodeFormProps } from './code-form.tsx'

/** Asks for the second factor: a code of the app, or a recovery code. */
export function FactorCodeForm({ children, ...rest }: Omit<CodeFormProps, 'kind'>) {
  const [kind, setKind] = useState<'app' | 'recovery'>('app')
  return (
    <CodeForm key={kind} kind={kind} {...rest}>
      <Button variant="ghost" onClick={() => setKind(kind === 'app' ? 'recovery' : 'app')}>
        {kind === 'app' ? 'Use a recovery code' : 'Use the authenticator app'}
      </Button>
      {children}
    </CodeForm>
  )
}
