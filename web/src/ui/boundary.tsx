import { Component, type ReactNode } from 'react'

type BoundaryProps = {
  children: ReactNode
  /** What stands in the place of children that threw; `reset` tries them again. */
  instead: (error: unknown, reset: () => void) => ReactNode
}

/** Keeps a failure inside from taking the page around it away. React knows this as a class alone. */
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
