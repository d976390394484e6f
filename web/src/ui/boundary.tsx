import { Component, type ReactNode } from 'react'

type BoundaryProps = {
  children: ReactNode
  /** Replaces children that threw; `reset` renders them again. */
  instead: (error: unknown, reset: () => void) => ReactNode
}

/** Contains a rendering failure. React supports error boundaries only as classes. */
export class Boundary extends Component<BoundaryProps, { failure: { error: unknown } | null }> {
  static getDerivedStateFromError(error: unknown) {
    return { failure: { error } }
  }
  override state = { failure: null as { error: unknown } | null }
  readonly reset = () => this.setState({ failure: null })
  override render() {
    const { children, instead } = this.props
    const { failure } = this.state
    return failure === null ? children : instead(failure.error, this.reset)
  }
}
