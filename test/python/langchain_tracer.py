"""LangChain's tracer, which the environment switches on."""

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.tracers.langchain import wait_for_all_tracers

from support.scenario import run, scenario


@tool
def shout(text: str) -> str:
    """Says it loud."""
    return text.upper()


@scenario
def chain(stream: bool):
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    model = GenericFakeChatModel(messages=iter([AIMessage("a quiet answer", usage_metadata=usage)]))
    prompt = ChatPromptTemplate.from_messages([("system", "Be quiet."), ("user", "{question}")])
    steps = prompt | model | RunnableLambda(lambda message: {"text": message.content}) | shout
    chain = steps.with_config(
        run_name="quiet chain", tags=["langchain"], metadata={"thread_id": "langchain thread"}
    )
    question = {"question": "What?"}
    answer = "".join(chain.stream(question)) if stream else chain.invoke(question)
    wait_for_all_tracers()
    return answer


run()
